#include "validation/nccl.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <random>

#include "input/csv.hpp"
#include "input/error.hpp"
#include "input/files.hpp"
#include "support/temporary_folder.hpp"

using namespace trainyard;

namespace {

const std::string kHeader = "id,topology,nodes,nics,gpus,collective,bytes,time_us,nccl_version\n";

validation::Report validate(const std::string& text) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "table.csv";
  std::ofstream{path} << text;
  return validation::validate_nccl(path.string());
}

std::string error_of(const std::string& text) {
  try {
    static_cast<void>(validate(text));
  } catch (const input::InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::string table(const char* name) {
  return (input::data_folder() / "tests" / "published" / name).string();
}

}  // namespace

// Bounds of the tests below: the aims for these tables, not what the model reaches.
TEST_CASE("published nccl-tests tables are met within the aim", "[nccl]") {
  const auto report = validation::validate_nccl(validation::published_nccl());
  CHECK(report.rows.size() == 655);
  const auto rows = report.over_rows();
  CHECK(rows.n > 250);
  CHECK(rows.median < 0.07);
  CHECK(rows.p90 < 0.25);
  CHECK(report.constants <= static_cast<int>(report.rows.size()) / 10);
  int near = 0;
  for (const auto& [family, summary] : report.by_family()) {
    near += summary.median < 0.15 ? 1 : 0;
  }
  CHECK(near >= 23);
}

TEST_CASE("all-reduce in one A100 or V100 node is met within the aim", "[nccl]") {
  const auto report = validation::validate_nccl(table("allreduce_lut.csv"));
  CHECK(report.over_rows().n == 288);
  CHECK(report.over_rows().median < 0.05);
  CHECK(report.over_rows().p90 < 0.15);
}

TEST_CASE("the curve over V100 counts follows the rings of the graph", "[nccl]") {
  std::string text = kHeader;
  for (int gpus = 2; gpus <= 8; ++gpus) {
    text += "x,dgx-1-v100,1,," + std::to_string(gpus) + ",all_reduce,1073741824,1,\n";
  }
  const auto report = validate(text);
  std::vector<double> bus;
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const double n = static_cast<double>(i) + 2.0;
    bus.push_back(2 * (n - 1) / n * 1073741824 / report.rows[i].predicted * 1e-3);
  }
  // One link of 22.6 GB/s a ring: 1, 4, 4, 6 rings of 2, 4, 7, 8 GPUs.
  CHECK(bus[0] == Approx(22.6).epsilon(0.03));
  CHECK(bus[2] == Approx(4 * 22.6).epsilon(0.05));
  CHECK(bus[5] == Approx(4 * 22.6).epsilon(0.05));
  CHECK(bus[6] == Approx(6 * 22.6).epsilon(0.05));
  CHECK(bus[3] < bus[2]);  // five GPUs have fewer rings than four
}

TEST_CASE("a prediction does not see the measured time", "[nccl]") {
  const auto csv = input::Csv::parse_file(validation::published_nccl());
  std::string changed;
  for (std::size_t c = 0; c < csv.columns().size(); ++c) {
    changed += (c > 0 ? "," : "") + csv.columns()[c];
  }
  changed += '\n';
  std::mt19937 random{1};  // NOLINT(cert-msc51-cpp): the same every time
  for (std::size_t i = 0; i < csv.size(); ++i) {
    for (std::size_t c = 0; c < csv.columns().size(); ++c) {
      const auto& column = csv.columns()[c];
      const std::string cell = column == "time_us"      ? std::to_string(1 + random() % 100000)
                               : csv.row(i).has(column) ? csv.row(i).text(column)
                                                        : "";
      changed += (c > 0 ? "," : "") + input::csv_cell(cell);
    }
    changed += '\n';
  }
  const auto blind = validate(changed);
  const auto seeing = validation::validate_nccl(validation::published_nccl());
  REQUIRE(blind.rows.size() == seeing.rows.size());
  for (std::size_t i = 0; i < blind.rows.size(); ++i) {
    CHECK(blind.rows[i].predicted == seeing.rows[i].predicted);
  }
}

TEST_CASE("rows below 1 MiB and named tables stand apart", "[nccl]") {
  const auto report = validate(kHeader + "x,dgx-2,1,,16,all_reduce,1048575,100,\n" +
                               "x,dgx-2,1,,16,all_reduce,1048576,100,\n" +
                               "oci-gpu4-2n16g-ar-roce,oci-gpu4,2,,16,all_reduce,1e9,100,\n");
  CHECK(report.rows[0].unscored == "below 1 MiB");
  CHECK(report.rows[1].unscored.empty());
  CHECK(report.rows[2].unscored.find("irregular") == 0);
  CHECK(report.over_rows().n == 1);
}

TEST_CASE("only what is needed has to be there", "[nccl]") {
  const auto report = validate("topology,gpus,bytes,time_us\ndgx-2,16,1073741824,100\n");
  CHECK(report.rows[0].family == "dgx-2");
  CHECK(report.rows[0].predicted > 0.0);
}

TEST_CASE("one process and fewer NICs are taken from their columns", "[nccl]") {
  const auto report = validate(
      "topology,nodes,nics,gpus,bytes,time_us,notes,collective\n"
      "dgx-a100-40gb,2,,16,1073741824,1,,all_gather\ndgx-a100-40gb,2,1,16,1073741824,1,,all_"
      "gather\n"
      "dgx-a100-40gb,1,,8,8,1,,\ndgx-a100-40gb,1,,8,8,1,\"1 process, -g 8\",\n");
  // An eighth of the NICs: eight times as long, but for the start.
  CHECK(report.rows[1].predicted / report.rows[0].predicted == Approx(8.0).epsilon(0.05));
  CHECK(report.rows[3].predicted > report.rows[2].predicted + 10.0);
}

TEST_CASE("wrong tables are told with their place", "[nccl]") {
  CHECK(error_of("topology,gpus,bytes\n").find("time_us") != std::string::npos);
  const auto row = [](const std::string& text) { return error_of(kHeader + text + "\n"); };
  CHECK(row("x,dgx-3,1,,8,all_reduce,8,1,").find("table.csv:2:3: error: ") != std::string::npos);
  CHECK(row("x,dgx-2,1,,17,all_reduce,8,1,").find("got 17") != std::string::npos);
  CHECK(row("x,dgx-2,2,,17,all_reduce,8,1,").find("spread evenly over 2 nodes") !=
        std::string::npos);
  CHECK(row("x,dgx-2,0,,16,all_reduce,8,1,").find("'nodes'") != std::string::npos);
  CHECK(row("x,dgx-2,1,,16,allreduce,8,1,").find("did you mean \"all_reduce\"?") !=
        std::string::npos);
  CHECK(row("x,dgx-2,1,,16,all_reduce,0,1,").find("'bytes'") != std::string::npos);
  CHECK(row("x,dgx-2,1,,16,all_reduce,8,-1,").find("'time_us'") != std::string::npos);
  CHECK(row("x,dgx-2,1,,16,all_reduce,8,nan,").find("'time_us'") != std::string::npos);
  CHECK(row("x,dgx-2,1,,many,all_reduce,8,1,").find("'gpus'") != std::string::npos);
}
