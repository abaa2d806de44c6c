#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"

using namespace trainyard;
using nlohmann::json;

namespace {

json rows_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "collective");
  arguments.insert(arguments.end(), {"--format", "json"});
  const auto ran = test::run_program(arguments);
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  return json::parse(ran.out).at("rows");
}

std::string error_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "collective");
  const auto ran = test::run_program(arguments);
  CHECK(ran.code == 2);
  CHECK(ran.out.empty());
  return ran.err;
}

}  // namespace

TEST_CASE("collective prints a row for each doubling", "[cli]") {
  const auto rows = rows_of({"--topology", "dgx-2", "--min", "1MiB", "--max", "8M"});
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].at("bytes") == 1048576);
  CHECK(rows[3].at("bytes") == 8388608);
  for (const auto& row : rows) {
    const double seconds = row.at("time_us").get<double>() * 1e-6;
    const double algorithm = row.at("bytes").get<double>() / seconds * 1e-9;
    CHECK(row.at("algbw_gb_per_s").get<double>() == Approx(algorithm));
    // 16 GPUs: 2 x 15/16.
    CHECK(row.at("busbw_gb_per_s").get<double>() == Approx(1.875 * algorithm));
    CHECK(row.at("algorithm") == "ring");
    CHECK_FALSE(row.at("protocol").get<std::string>().empty());
  }
}

TEST_CASE("collective spreads GPUs over nodes and takes NICs away", "[cli]") {
  const auto all = rows_of({"--topology", "dgx-a100-40gb", "--nodes", "2", "--op", "all_gather",
                            "--min", "1GiB", "--max", "1GiB", "--explain"});
  const auto one = rows_of({"--topology", "dgx-a100-40gb", "--nodes", "2", "--op", "all_gather",
                            "--min", "1GiB", "--max", "1GiB", "--nics", "1", "--explain"});
  CHECK(all[0].at("flows") == 8);
  CHECK(one[0].at("flows") == 1);
  CHECK(all[0].at("time_us").get<double>() < one[0].at("time_us").get<double>() / 7);
  CHECK(all[0].at("limiting_link").get<std::string>().find("mlx5_") != std::string::npos);
  CHECK(all[0].at("bound_us").get<double>() + all[0].at("latency_us").get<double>() <
        all[0].at("time_us").get<double>());
  const auto two = rows_of({"--topology", "dgx-a100-40gb", "--nodes", "2", "--gpus", "2", "--op",
                            "sendrecv", "--min", "8", "--max", "8", "--explain"});
  CHECK(two[0].at("flows") == 1);
}

TEST_CASE("collective as a table and as CSV", "[cli]") {
  const auto text = test::run_program(
      {"collective", "--topology", "dgx-1-v100", "--min", "1GiB", "--max", "1GiB", "--explain"});
  REQUIRE(text.code == 0);
  CHECK(text.out.find("1073741824      268435456   float") != std::string::npos);
  CHECK(text.out.find("ring simple: 6 flows") != std::string::npos);
  CHECK(text.out.find("limiting link: gpu") != std::string::npos);
  const auto csv = test::run_program(
      {"collective", "--topology", "dgx-1-v100", "--min", "8", "--max", "16", "--format", "csv"});
  REQUIRE(csv.code == 0);
  CHECK(csv.out.find("bytes,time_us,algbw_gb_per_s,busbw_gb_per_s,algorithm,protocol\n8,") == 0);
}

TEST_CASE("collective keeps to one algorithm and reads MSCCL's XML", "[cli]") {
  const auto ring =
      rows_of({"--topology", "dgx-h100", "--algorithm", "ring", "--min", "1GiB", "--max", "1GiB"});
  CHECK(ring[0].at("algorithm") == "ring");
  const test::TemporaryFolder folder;
  const auto file = folder.write("two.xml",
                                 "<algo name=\"hello\" coll=\"broadcast\" nchunksperloop=\"1\" "
                                 "ngpus=\"2\"><gpu id=\"0\"><tb id=\"0\" send=\"1\" recv=\"-1\">"
                                 "<step type=\"s\"/></tb></gpu><gpu id=\"1\"><tb id=\"0\" "
                                 "send=\"-1\" recv=\"0\"><step type=\"r\"/></tb></gpu></algo>");
  const auto own = rows_of({"--topology", "dgx-a100-40gb", "--gpus", "2", "--op", "broadcast",
                            "--msccl", file.string(), "--min", "1GiB", "--max", "1GiB"});
  CHECK(own[0].at("algorithm") == "hello");
  CHECK(error_of({"--topology", "dgx-a100-40gb", "--gpus", "2", "--msccl", file.string()})
            .find("another collective") != std::string::npos);
  CHECK(error_of({"--topology", "dgx-a100-40gb", "--op", "broadcast", "--msccl", file.string()})
            .find("is for 2 GPUs, the group has 8") != std::string::npos);
}

TEST_CASE("collective refuses what makes no sense", "[cli]") {
  CHECK(error_of({"--topology", "dgx-3"}).find("did you mean") != std::string::npos);
  CHECK(error_of({"--topology", "dgx-2", "--op", "allreduce"}).find("did you mean") !=
        std::string::npos);
  CHECK(error_of({"--topology", "dgx-2", "--gpus", "17"})
            .find("must be at most 16, the GPUs of topology \"dgx-2\", got 17") !=
        std::string::npos);
  CHECK(error_of({"--topology", "dgx-2", "--gpus", "0"}).find("--gpus") != std::string::npos);
  CHECK(error_of({"--topology", "dgx-2", "--nodes", "2", "--gpus", "3"}).find("spread evenly") !=
        std::string::npos);
  for (const char* size : {"0", "-1", "huge", "1e30GiB", "nan", "", "9999999999999999999999"}) {
    CAPTURE(size);
    CHECK(error_of({"--topology", "dgx-2", "--max", size}).find("--max") != std::string::npos);
  }
  CHECK(error_of({"--topology", "dgx-2", "--min", "2GiB", "--max", "1GiB"}).find("--min") !=
        std::string::npos);
}

TEST_CASE("validate prints rows and errors in three forms", "[cli]") {
  const auto text = test::run_program({"validate", "nccl"});
  REQUIRE(text.code == 0);
  CHECK(text.out.find("scored rows") == 0);
  CHECK(text.out.find("behind 655 rows") != std::string::npos);
  CHECK(text.out.find("below 1 MiB") != std::string::npos);
  const test::TemporaryFolder folder;
  const auto table = folder.write("own.csv",
                                  "topology,nodes,gpus,collective,bytes,time_us\n"
                                  "dgx-2,1,16,all_reduce,1073741824,16000\n");
  const auto ran =
      test::run_program({"validate", "nccl", "--against", table.string(), "--format", "json"});
  REQUIRE(ran.code == 0);
  const auto document = json::parse(ran.out);
  const auto& row = document.at("rows").at(0);
  CHECK(row.at("measured") == 16000.0);
  CHECK(row.at("error").get<double>() == Approx(row.at("predicted").get<double>() / 16000.0 - 1.0));
  CHECK(document.at("summary").at("n") == 1);
  CHECK(document.at("summary").at("median_abs_error").get<double>() ==
        Approx(std::abs(row.at("error").get<double>())));
  CHECK(document.at("summary").at("families").at("n") == 1);
  CHECK(document.at("summary").at("by_system").contains("dgx-2"));
  const auto csv =
      test::run_program({"validate", "nccl", "--against", table.string(), "--format", "csv"});
  CHECK(csv.out.find("id,topology,nodes,nics,gpus,collective,bytes,measured,predicted,error,") ==
        0);
  const auto missing = test::run_program({"validate", "nccl", "--against", "no-such.csv"});
  CHECK(missing.code == 2);
  CHECK(missing.err.find("no-such.csv: error: ") == 0);
}
