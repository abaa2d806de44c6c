#include "results/files.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "input/csv.hpp"
#include "input/files.hpp"
#include "input/section.hpp"
#include "results/support.hpp"
#include "results/tables.hpp"
#include "results/timeline.hpp"

using namespace trainyard;
using namespace trainyard::results;

namespace {

Files files_of(const simulation::Outcome& outcome) {
  return make_files(test::flat_scenario(), outcome, measure(outcome));
}

}  // namespace

TEST_CASE("jobs.csv has the contract's columns in its order", "[results]") {
  const std::string text = files_of(test::two_jobs()).at("jobs.csv");
  CHECK(
      text.substr(0, text.find('\n')) ==
      "job_id,gpus,submit_s,start_s,end_s,jct_s,wait_s,run_s,service_s,restart_s,lost_s,"
      "preemptions,throughput,step_ms,step_ci,wait_quota_s,wait_order_s,wait_reservation_s,"
      "wait_capacity_s,wait_topology_s,wait_fragmentation_s,wait_repair_s,rho,energy_j,cost,queue,"
      "placement");
  const auto csv = input::Csv::parse(text, "jobs.csv");
  REQUIRE(csv.size() == 2);
  CHECK(csv.row(1).number("jct_s") == 28.0);
  CHECK(csv.row(1).number("wait_capacity_s") == 8.0);
  CHECK(csv.row(1).number("wait_s") == 8.0);
  CHECK(csv.row(0).text("placement") == "node0:0-3");
  CHECK(csv.row(1).text("placement") == "node0:0-3 node1:0-3");
}

TEST_CASE("files without content are absent", "[results]") {
  const Files files = files_of(test::two_jobs());
  CHECK(files.count("queues.csv") == 0);
  CHECK(files.count("links.csv") == 0);
  CHECK(files.count("timeline.json.gz") == 0);
  CHECK(files.count("summary.json") == 1);
}

TEST_CASE("queues.csv follows submits, starts and ends", "[results]") {
  auto outcome = test::two_jobs();
  outcome.jobs[0].queue = outcome.jobs[1].queue = "research";
  CHECK(files_of(outcome).at("queues.csv") ==
        "time_s,queue,allocated_gpus,waiting_jobs,waiting_gpus\n"
        "0,research,4,0,0\n"
        "2,research,4,1,8\n"
        "10,research,8,0,0\n"
        "30,research,0,0,0\n");
}

TEST_CASE("summary.json is one document with the metrics", "[results]") {
  const auto summary = nlohmann::json::parse(files_of(test::two_jobs()).at("summary.json"));
  CHECK(summary["schema_version"] == 1);
  CHECK(summary["makespan_s"] == 30.0);
  CHECK(summary["allocation"].get<double>() == Approx(200.0 / 240.0));
  CHECK(summary["job"][0]["throughput_unit"] == "samples");
  CHECK(summary["job"][1]["throughput_unit"] == "steps");
  CHECK(summary["job"][1]["slowdown"].is_null());
}

TEST_CASE("hostile names stay text", "[results]") {
  auto outcome = test::two_jobs();
  outcome.jobs[0].id = "a,\"b\"\n../../x";
  outcome.jobs[1].id = "\xff\xfe";
  const Files files = files_of(outcome);
  CHECK(input::Csv::parse(files.at("jobs.csv"), "jobs.csv").row(0).text("job_id") ==
        outcome.jobs[0].id);
  CHECK_NOTHROW(nlohmann::json::parse(files.at("summary.json")));
  const std::string table = jobs_table(test::flat_scenario(), outcome, measure(outcome));
  CHECK(std::count(table.begin(), table.end(), '\n') == 3);
}

TEST_CASE("scenario.toml reads back and names its inputs", "[results]") {
  const auto document =
      input::Document::parse(files_of(test::two_jobs()).at("scenario.toml"), "scenario.toml");
  const auto provenance = document.root().section("provenance");
  REQUIRE(provenance);
  CHECK(provenance->require("seed").integer() == 1);
  CHECK(provenance->sections("input").front().require("name").text() == "test.toml");
}

TEST_CASE("the timeline holds its spans and says what it left out", "[results]") {
  auto outcome = test::two_jobs();
  outcome.timeline.push_back(
      {"a", 3, "all_reduce", true, units::Nanoseconds{1500}, units::Nanoseconds{4000}});
  outcome.timeline_left_out = 7;
  const auto trace = nlohmann::json::parse(timeline_json(outcome));
  const auto& events = trace["traceEvents"];
  CHECK(events[0]["args"]["count"] == 7);
  CHECK(events[2]["ts"] == 1.5);
  CHECK(events[2]["dur"] == 2.5);
  CHECK(timeline_json_gz(outcome) == timeline_json_gz(outcome));
}

TEST_CASE("equal outcomes give equal bytes", "[results]") {
  CHECK(files_of(test::two_jobs()) == files_of(test::two_jobs()));
}

TEST_CASE("long job lists are cut in the middle", "[results]") {
  auto outcome = test::two_jobs();
  outcome.jobs.resize(40, outcome.jobs[0]);
  const std::string table = jobs_table(test::flat_scenario(), outcome, measure(outcome));
  CHECK(table.find("... 15 more jobs") != std::string::npos);
  CHECK(std::count(table.begin(), table.end(), '\n') == 1 + 20 + 1 + 5);
}

TEST_CASE("docs/results.md names every column that is written", "[results]") {
  auto outcome = test::two_jobs();
  outcome.jobs[0].queue = "q";
  const std::string manual =
      input::read_file(std::string{TRAINYARD_SOURCE_DIR} + "/docs/results.md");
  for (const auto& [name, text] : files_of(outcome)) {
    INFO(name);
    CHECK(manual.find(name) != std::string::npos);
    if (name.size() > 4 && name.substr(name.size() - 4) == ".csv") {
      std::stringstream columns{text.substr(0, text.find('\n'))};
      for (std::string column; std::getline(columns, column, ',');) {
        INFO(column);
        CHECK(manual.find("`" + column + "`") != std::string::npos);
      }
    }
  }
}
