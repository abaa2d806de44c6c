#include "collective/msccl.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "collective/support.hpp"

using namespace trainyard;
using collective::parse_msccl;

namespace {

/// One ring: every rank sends its own chunk, passes n - 2 on and receives the last.
std::string ring_all_gather(int ranks, const std::string& proto = "Simple") {
  std::string text = fmt::format(
      "<algo name=\"ring\" coll=\"allgather\" nchunksperloop=\"{0}\" ngpus=\"{0}\" "
      "proto=\"{1}\">\n",
      ranks, proto);
  for (int gpu = 0; gpu < ranks; ++gpu) {
    text += fmt::format("<gpu id=\"{}\"><tb id=\"0\" send=\"{}\" recv=\"{}\" chan=\"0\">\n", gpu,
                        (gpu + 1) % ranks, (gpu + ranks - 1) % ranks);
    for (int step = 0; step < ranks; ++step) {
      text += fmt::format("<step s=\"{}\" type=\"{}\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/>\n", step,
                          step == 0           ? "s"
                          : step + 1 == ranks ? "r"
                                              : "rcs");
    }
    text += "</tb></gpu>\n";
  }
  return text + "</algo>\n";
}

/// Two GPUs swap halves, add, and swap the sums: each in a block of its own for each direction.
const char* const kSwap = R"(<algo name="swap" coll="allreduce" nchunksperloop="2" ngpus="2">
<gpu id="0">
 <tb id="0" send="1" recv="-1" chan="0">
  <step s="0" type="s" cnt="1" depid="-1" deps="-1"/>
  <step s="1" type="s" cnt="1" depid="1" deps="0"/>
 </tb>
 <tb id="1" send="-1" recv="1" chan="0">
  <step s="0" type="rrc" cnt="1" depid="-1" deps="-1"/>
  <step s="1" type="r" cnt="1" depid="-1" deps="-1"/>
 </tb>
</gpu>
<gpu id="1">
 <tb id="0" send="0" recv="-1" chan="0">
  <step s="0" type="s" cnt="1" depid="-1" deps="-1"/>
  <step s="1" type="s" cnt="1" depid="1" deps="0"/>
 </tb>
 <tb id="1" send="-1" recv="0" chan="0">
  <step s="0" type="rrc" cnt="1" depid="-1" deps="-1"/>
  <step s="1" type="r" cnt="1" depid="-1" deps="-1"/>
 </tb>
</gpu>
</algo>)";

std::string changed(const std::string& from, const std::string& to) {
  std::string text = kSwap;
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

collective::Plan plan(const topology::Cluster& cluster, const std::string& text, double bytes,
                      const std::vector<int>& group) {
  return collective::msccl_plan(cluster, parse_msccl(text, "a.xml"), units::Bytes{bytes}, group,
                                test::round_constants(), {}, {"command line"});
}

}  // namespace

TEST_CASE("a ring written down takes what the built-in ring takes", "[msccl]") {
  const auto cluster = test::nodes_of("dgx-a100-40gb", 1);
  for (const int ranks : {3, 4, 8}) {
    CAPTURE(ranks);
    const auto group = test::first_gpus(ranks);
    const auto own = plan(cluster, ring_all_gather(ranks), 1e9, group);
    const auto built_in = test::round_plan(cluster, workload::CollectiveOp::all_gather, 1e9, group,
                                           {.algorithm = "ring"});
    REQUIRE(built_in.protocol == "simple");
    CHECK(own.protocol == "simple");
    CHECK(own.latency.si() == Approx(built_in.latency.si()));
    CHECK(time_alone(own, cluster).si() == Approx(time_alone(built_in, cluster).si()));
  }
}

TEST_CASE("messages, depth and chunks by hand", "[msccl]") {
  const auto swap = parse_msccl(kSwap, "swap.xml");
  CHECK(swap.name == "swap");
  CHECK(swap.ranks == 2);
  CHECK(swap.chunks == 2);
  CHECK(swap.messages.size() == 4);
  CHECK(swap.depth == 2);  // the second send waits for the sum
  CHECK(swap.protocol == collective::kSimple);
  const auto cluster = test::nodes_of("dgx-1-v100", 1);
  // GPUs 0 and 3 have two links: each direction carries two halves.
  const auto result = plan(cluster, kSwap, 1e9, {0, 3});
  const auto bytes = test::bytes_by_link(result);
  CHECK(bytes.size() == 2);
  CHECK(bytes.at(*cluster.nvlink(0, 3)) == Approx(1e9));
  CHECK(test::transfer_time(cluster, result) == Approx(1e9 / (2 * 0.904 * 25e9)));
  CHECK(result.latency.si() == Approx((10 + 2 * 3) * 1e-6));
}

TEST_CASE("the protocol is the file's", "[msccl]") {
  const auto cluster = test::nodes_of("dgx-a100-40gb", 1);
  const auto ll = plan(cluster, ring_all_gather(4, "LL"), 1e9, test::first_gpus(4));
  CHECK(ll.protocol == "ll");
  const auto simple = plan(cluster, ring_all_gather(4), 1e9, test::first_gpus(4));
  CHECK(test::transfer_time(cluster, ll) == Approx(2 * test::transfer_time(cluster, simple)));
}

TEST_CASE("files that make no algorithm are told with their place", "[msccl]") {
  const auto fails = [](const std::string& text, const std::string& what) {
    CHECK_THROWS_WITH(parse_msccl(text, "a.xml"),
                      Catch::Contains(what) && Catch::Contains("a.xml:"));
  };
  fails("<algo", "");
  fails(std::string{kSwap}.substr(0, 300), "");
  fails("<system/>", "begins with <algo>");
  fails(changed("allreduce", "allshuffle"), "got \"allshuffle\"");
  fails(changed("ngpus=\"2\"", "ngpus=\"0\""), "ngpus");
  fails(changed("ngpus=\"2\"", "ngpus=\"1\""), "'send' must be an integer");
  fails(changed("ngpus=\"2\"", "ngpus=\"2\" proto=\"LL256\""), "got \"LL256\"");
  fails(changed("nchunksperloop=\"2\"", ""), "nchunksperloop is missing");
  fails(changed("type=\"rrc\"", "type=\"add\""), "got \"add\"");
  fails(changed("send=\"1\"", "send=\"0\""), "needs another GPU");
  fails(changed("deps=\"0\"", "deps=\"7\""), "not there");
  fails(changed("type=\"rrc\"", "type=\"nop\""), "does not");
  // The first send of GPU 0 waits for the sum, which waits for GPU 1's first send: no loop. Let
  // that wait for its own sum as well, and each waits for the other.
  std::string loop = kSwap;
  for (const char* gpu : {"<gpu id=\"0\">", "<gpu id=\"1\">"}) {
    const std::string first = "<step s=\"0\" type=\"s\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/>";
    const auto at = loop.find(first, loop.find(gpu));
    loop.replace(at, first.size(), "<step s=\"0\" type=\"s\" cnt=\"1\" depid=\"1\" deps=\"0\"/>");
  }
  fails(loop, "in a loop");
}

TEST_CASE("an algorithm for another number of GPUs is refused", "[msccl]") {
  const auto cluster = test::nodes_of("dgx-a100-40gb", 1);
  CHECK_THROWS_WITH(plan(cluster, kSwap, 1.0, {0, 1, 2}),
                    Catch::Contains("is for 2 GPUs, the group has 3"));
}
