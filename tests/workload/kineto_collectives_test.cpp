#include "workload/importers/kineto_collectives.hpp"

#include <catch2/catch.hpp>

#include "profile_builder.hpp"

using namespace trainyard;
using test::ProfileBuilder;
using workload::CollectiveOp;
using workload::CommunicationInfo;
using workload::Workload;

namespace {

constexpr const char* kAllReduce = "ncclKernel_AllReduce_RING_LL_Sum_float(X)";
constexpr const char* kSendRecv = "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(X)";

/// A rank that runs collectives one after the other, each in an "nccl:" range.
class Rank {
 public:
  Rank(int rank, int world) {
    profile_.head(fmt::format(R"("distributedInfo":{{"rank":{},"world_size":{}}},)", rank, world));
  }
  Rank& call(std::string_view range, std::string_view kernel, int elements, int stream = 20) {
    const int at = 100 * ++count_;
    profile_
        .range(range, at, 50, 1,
               fmt::format(R"("Input Dims":[[{}]],"Input type":["float"])", elements))
        .call("cudaLaunchKernel", at + 10, 5, count_)
        .kernel(at + 20, 10, count_, stream, kernel);
    return *this;
  }
  Rank& stated(std::string_view kernel, std::string_view metadata, int stream = 20) {
    const int at = 100 * ++count_;
    profile_.call("cudaLaunchKernel", at + 10, 5, count_)
        .kernel(at + 20, 10, count_, stream, kernel, fmt::format(",{}", metadata));
    return *this;
  }
  [[nodiscard]] std::string text() const { return profile_.text(); }

 private:
  ProfileBuilder profile_{};
  int count_ = 0;
};

Workload import_ranks(const std::vector<Rank>& ranks) {
  const test::TemporaryFolder folder;
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    paths.push_back(folder.write(fmt::format("r{}.json", i), ranks[i].text()).string());
  }
  return workload::import_kineto(paths, "test");
}

double bytes_of(const Workload& workload, std::size_t index) {
  REQUIRE(workload.collectives.at(index).bytes.has_value());
  return workload.collectives.at(index).bytes->si();
}

constexpr const char* kMetadata =
    R"("Collective name":"allreduce","In msg nelems":100,"Out msg nelems":100,"dtype":"Half",)"
    R"("Process Group Name":"5","Process Group Ranks":"[1, 3]","Group size":2)";

}  // namespace

TEST_CASE("ranks are matched by order on their communication stream", "[collectives]") {
  // the stream's number differs between the ranks
  const auto workload = import_ranks(
      {Rank{0, 2}.call("nccl:all_reduce", kAllReduce, 10).call("nccl:all_reduce", kAllReduce, 30),
       Rank{1, 2}
           .call("nccl:all_reduce", kAllReduce, 10, 84)
           .call("nccl:all_reduce", kAllReduce, 30, 84)});
  REQUIRE(workload.collectives.size() == 2);
  CHECK(workload.collectives[1].sequence == 1);
  CHECK(bytes_of(workload, 0) == 40.0);
  CHECK(bytes_of(workload, 1) == 120.0);
  REQUIRE(workload.groups.size() == 1);
  CHECK(workload.groups[0].ranks == std::vector<int>{0, 1});
  for (const auto& timeline : workload.timelines) {
    int next = 0;
    for (const auto& op : timeline.ops) {
      if (op.kind == workload::OpKind::collective) {
        CHECK(op.collective == next++);
      }
    }
    CHECK(next == 2);
  }
}

TEST_CASE("the range tells an all-to-all from other SendRecv kernels", "[collectives]") {
  const auto workload = import_ranks({Rank{0, 4}.call("nccl:all_to_all", kSendRecv, 64)});
  CHECK(workload.collectives.at(0).op == CollectiveOp::all_to_all);
  CHECK(bytes_of(workload, 0) == 256.0);
  CHECK(import_ranks({Rank{0, 4}.call("nccl:send", kSendRecv, 64)}).collectives.at(0).op ==
        CollectiveOp::send_recv);
}

TEST_CASE("a SendRecv kernel of which nothing is said", "[collectives]") {
  const auto several = ProfileBuilder{}
                           .head(R"("distributedInfo":{"rank":0,"world_size":4},)")
                           .kernel(1, 2, 3, 20, kSendRecv)
                           .import();
  CHECK(several.collectives.at(0).op == CollectiveOp::all_to_all);
  CHECK_FALSE(several.collectives.at(0).bytes.has_value());
  const auto pair = ProfileBuilder{}
                        .head(R"("distributedInfo":{"rank":0,"world_size":2},)")
                        .kernel(1, 2, 3, 20, kSendRecv)
                        .import();
  CHECK(pair.collectives.at(0).op == CollectiveOp::send_recv);
}

TEST_CASE("a kernel that does not name its collective is counted", "[collectives]") {
  const auto workload =
      ProfileBuilder{}.kernel(1, 2, 3, 20, "ncclDevKernel_Generic(Storage)").import();
  CHECK(workload.collectives.at(0).op == CollectiveOp::all_reduce);
  CHECK_FALSE(workload.collectives.at(0).bytes.has_value());
  REQUIRE_FALSE(workload.skipped.empty());
  CHECK(workload.skipped.front().reason ==
        "communication kernels whose operation the profile does not say");
}

TEST_CASE("metadata on the kernel gives group, ranks and size", "[collectives]") {
  const auto workload = import_ranks(
      {Rank{1, 4}.stated(kAllReduce, kMetadata), Rank{3, 4}.stated(kAllReduce, kMetadata)});
  REQUIRE(workload.groups.size() == 1);
  CHECK(workload.groups[0].name == "5");
  CHECK(workload.groups[0].ranks == std::vector<int>{1, 3});
  CHECK(bytes_of(workload, 0) == 200.0);
  CHECK(workload.world_size == 4);
}

TEST_CASE("a call without metadata joins the group of its stream", "[collectives]") {
  const auto workload = import_ranks({Rank{1, 4}
                                          .call("nccl:all_reduce", kAllReduce, 8)
                                          .stated(kAllReduce, kMetadata)
                                          .call("nccl:all_reduce", kAllReduce, 16)});
  REQUIRE(workload.groups.size() == 1);
  CHECK(workload.collectives.size() == 3);
  CHECK(bytes_of(workload, 2) == 64.0);
}

TEST_CASE("ranks outside a group take no part in it", "[collectives]") {
  const auto workload = import_ranks(
      {Rank{0, 4}.call("nccl:all_reduce", kAllReduce, 8, 30),
       Rank{1, 4}.call("nccl:all_reduce", kAllReduce, 8, 30).stated(kAllReduce, kMetadata)});
  CHECK(workload.groups.size() == 2);
  CHECK(workload.collectives.size() == 2);
}

TEST_CASE("ranks that disagree are an error", "[collectives]") {
  const Rank first =
      Rank{0, 2}.call("nccl:all_reduce", kAllReduce, 10).call("nccl:all_reduce", kAllReduce, 20);
  SECTION("on a size") {
    REQUIRE_THROWS_WITH(import_ranks({first, Rank{1, 2}
                                                 .call("nccl:all_reduce", kAllReduce, 10)
                                                 .call("nccl:all_reduce", kAllReduce, 21)}),
                        Catch::Contains("error: ranks disagree on collective 1 of group "
                                        "\"stream 0\": rank 0 has all_reduce of 80 bytes, rank 1 "
                                        "has all_reduce of 84 bytes"));
  }
  SECTION("on the operation") {
    REQUIRE_THROWS_WITH(import_ranks({first, Rank{1, 2}
                                                 .call("nccl:all_reduce", kAllReduce, 10)
                                                 .call("nccl:broadcast", kAllReduce, 20)}),
                        Catch::Contains("rank 1 has broadcast of 80 bytes"));
  }
  SECTION("on the number of calls") {
    REQUIRE_THROWS_WITH(
        import_ranks({first, Rank{1, 2}.call("nccl:all_reduce", kAllReduce, 10)}),
        Catch::Contains("ranks disagree on collective 1 of group \"stream 0\": rank 0 has 2 of "
                        "them, rank 1 has 1"));
  }
  SECTION("one has none at all") {
    REQUIRE_THROWS_WITH(import_ranks({first, Rank{1, 2}.call("x", "void k()", 1)}),
                        Catch::Contains("ranks disagree on collective 0"));
  }
}

TEST_CASE("uneven all-to-alls count with the largest size", "[collectives]") {
  const auto workload = import_ranks({Rank{0, 2}.call("nccl:all_to_all", kSendRecv, 10),
                                      Rank{1, 2}.call("nccl:all_to_all", kSendRecv, 25)});
  CHECK(bytes_of(workload, 0) == 100.0);
  CHECK(workload.skipped.front().reason ==
        "all-to-all calls with different sizes per rank (largest taken)");
}

TEST_CASE("a size that only one rank knows counts for all", "[collectives]") {
  const auto workload = import_ranks({Rank{0, 2}.stated(kAllReduce, R"("x":1)"),
                                      Rank{1, 2}.call("nccl:all_reduce", kAllReduce, 25)});
  CHECK(bytes_of(workload, 0) == 100.0);
}

TEST_CASE("what the bytes of a collective mean", "[collectives]") {
  CommunicationInfo info;
  info.dtype = "float";
  info.in_elements = 10;
  info.out_elements = 40;
  const auto bytes = [&](CollectiveOp op) {
    return workload::collective_bytes(op, info, 4).value().si();
  };
  CHECK(bytes(CollectiveOp::all_reduce) == 40.0);
  CHECK(bytes(CollectiveOp::all_gather) == 160.0);     // the whole output
  CHECK(bytes(CollectiveOp::reduce_scatter) == 40.0);  // the whole input
  CHECK(bytes(CollectiveOp::all_to_all) == 40.0);      // what one rank holds
  CHECK(bytes(CollectiveOp::broadcast) == 40.0);
  info.out_elements = -1;
  CHECK(bytes(CollectiveOp::all_gather) == 160.0);  // 4 ranks x 10 elements x 4 bytes
  info.dtype = "Quaternion";
  CHECK_FALSE(workload::collective_bytes(CollectiveOp::all_reduce, info, 4));
  info.dtype = "float";
  info.in_elements = -1;
  CHECK_FALSE(workload::collective_bytes(CollectiveOp::all_reduce, info, 4));
}

TEST_CASE("lists of ranks are read unless they are cut", "[collectives]") {
  CHECK(workload::parse_ranks("[0, 1, 5]") == std::vector<int>{0, 1, 5});
  CHECK(workload::parse_ranks("[]").empty());
  CHECK(workload::parse_ranks("").empty());
  CHECK(workload::parse_ranks("[0, 1, ..., 63]").empty());
  CHECK(workload::parse_ranks("[99999999999]").empty());
}

TEST_CASE("a cut list of ranks is rebuilt from start, stride and size", "[collectives]") {
  const auto workload = import_ranks({Rank{2, 8}.stated(
      kAllReduce, R"("Process Group Name":"7","Process Group Ranks":"[0, 2, ..., 6]",)"
                  R"("Group size":4,"Global rank start":0,"Global rank stride":2)")});
  CHECK(workload.groups.at(0).ranks == std::vector<int>{0, 2, 4, 6});
}

TEST_CASE("messages with a named peer belong to the pair", "[collectives]") {
  const auto send = R"("Collective name":"send","In msg nelems":8,"dtype":"Float",)"
                    R"("Src Rank":0,"Dst Rank":1,"Process Group Name":"0")";
  const auto receive = R"("Collective name":"recv","Out msg nelems":8,"dtype":"Float",)"
                       R"("Src Rank":0,"Dst Rank":1,"Process Group Name":"0")";
  const auto workload =
      import_ranks({Rank{0, 4}.stated(kSendRecv, send), Rank{1, 4}.stated(kSendRecv, receive)});
  REQUIRE(workload.collectives.size() == 1);
  CHECK(workload.collectives[0].op == CollectiveOp::send_recv);
  CHECK(workload.groups.at(0).ranks == std::vector<int>{0, 1});
}
