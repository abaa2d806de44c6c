#include "simulation/jobs_file.hpp"

#include <catch2/catch.hpp>

namespace trainyard {
namespace {

using simulation::JobRow;
using units::Nanoseconds;

std::vector<JobRow> read(const std::string& text) {
  return simulation::read_job_rows(input::Csv::parse(text, "jobs.csv"));
}

/// One row with the required columns and one more.
std::vector<JobRow> read_with(const std::string& column, const std::string& cell) {
  return read("job_id,submit_s,gpus,duration_s," + column + "\na,0,1,10," + cell + "\n");
}

TEST_CASE("a jobs file needs four columns only", "[jobs-file]") {
  const auto rows = read("gpus,job_id,duration_s,submit_s\n8,a,12.25,1e3\n1,\"b,c\",,0\n");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].id == "a");
  CHECK(rows[0].gpus == 8);
  CHECK(rows[0].submit == Nanoseconds{1'000'000'000'000});
  CHECK(rows[0].duration == Nanoseconds{12'250'000'000});
  CHECK(rows[0].workload.empty());
  CHECK(rows[0].job_class == "training");
  CHECK(rows[0].priority == 0);
  CHECK_FALSE(rows[0].memory.has_value());
  CHECK(rows[1].id == "b,c");
  CHECK_FALSE(rows[1].duration.has_value());
}

TEST_CASE("optional columns are read", "[jobs-file]") {
  const auto rows = read(
      "job_id,submit_s,gpus,duration_s,workload,steps,samples,queue,user,priority,class,"
      "memory_bytes,estimate_s\n"
      "a,0,1,,bert,500,,research,ada,-2,inference,4e9,60\n"
      "b,0,1,,bert,,1.5,,,,,,\n");
  CHECK(rows[0].workload == "bert");
  CHECK(rows[0].steps == 500);
  CHECK(rows[0].queue == "research");
  CHECK(rows[0].user == "ada");
  CHECK(rows[0].priority == -2);
  CHECK(rows[0].job_class == "inference");
  CHECK(rows[0].memory->si() == Approx(4e9));
  CHECK(rows[1].samples == Approx(1.5));
  CHECK(rows[1].job_class == "training");
}

TEST_CASE("columns must be known, and the four must be there", "[jobs-file]") {
  CHECK_THROWS_WITH(read_with("worklod", "bert"),
                    "jobs.csv:1:33: error: unknown column 'worklod', did you mean \"workload\"?");
  CHECK_THROWS_WITH(read("job_id,submit_s,gpus\na,0,1\n"),
                    "jobs.csv:1:1: error: missing column 'duration_s'");
}

TEST_CASE("a filled cell that this version does not act on is refused", "[jobs-file]") {
  const std::string column = GENERATE("deadline_s", "gpu_kind", "min_gpus", "max_gpus",
                                      "checkpoint_every_s", "mig_profile", "gpu_fraction");
  CHECK_THROWS_WITH(read_with(column, "1"),
                    "jobs.csv:2:10: error: '" + column + "' is not supported by this version");
  CHECK(read_with(column, "").size() == 1);
}

TEST_CASE("cells are checked with their place", "[jobs-file]") {
  const auto [row, message] = GENERATE(table<std::string, std::string>({
      {",0,1,10", "jobs.csv:2:1: error: 'job_id' must not be empty"},
      {"a,-1,1,10",
       "jobs.csv:2:3: error: 'submit_s' must be seconds from 0, at most 200 years, got \"-1\""},
      {"a,1e11,1,10",
       "jobs.csv:2:3: error: 'submit_s' must be seconds from 0, at most 200 years, got \"1e11\""},
      {"a,nan,1,10", "jobs.csv:2:3: error: 'submit_s' must be a number, got \"nan\""},
      {"a,,1,10", "jobs.csv:2:3: error: 'submit_s' must be a number, got \"\""},
      {"a,0,0,10", "jobs.csv:2:5: error: 'gpus' must be an integer from 1 to 2147483647, got 0"},
      {"a,0,1.5,10", "jobs.csv:2:5: error: 'gpus' must be an integer, got \"1.5\""},
      {"a,0,1,0",
       "jobs.csv:2:7: error: 'duration_s' must be seconds above 0, at most 200 years, got \"0\""},
      {"a,0,1,ten", "jobs.csv:2:7: error: 'duration_s' must be a number, got \"ten\""},
  }));
  CHECK_THROWS_WITH(read("job_id,submit_s,gpus,duration_s\n" + row + "\n"), message);
}

TEST_CASE("optional cells are checked with their place", "[jobs-file]") {
  const auto [column, cell, message] = GENERATE(table<std::string, std::string, std::string>({
      {"steps", "0", "'steps' must be an integer from 1 to 1000000000000, got 0"},
      {"samples", "0", "'samples' must be above 0, got \"0\""},
      {"priority", "high", "'priority' must be an integer, got \"high\""},
      {"class", "batch",
       "'class' must be \"interactive\", \"training\" or \"inference\", got \"batch\""},
      {"memory_bytes", "0", "'memory_bytes' must be above 0, got \"0\""},
      {"estimate_s", "-1", "'estimate_s' must be seconds from 0, at most 200 years, got \"-1\""},
  }));
  CHECK_THROWS_WITH(read_with(column, cell), "jobs.csv:2:10: error: " + message);
}

TEST_CASE("steps and samples exclude each other", "[jobs-file]") {
  CHECK_THROWS_WITH(read("job_id,submit_s,gpus,duration_s,steps,samples\na,0,1,,5,5\n"),
                    "jobs.csv:2:10: error: 'samples' and 'steps' exclude each other: leave one of "
                    "them empty");
}

TEST_CASE("estimates are noticed when a cell has one", "[jobs-file]") {
  const auto parse = [](const std::string& cell) {
    return input::Csv::parse("job_id,submit_s,gpus,duration_s,estimate_s\na,0,1,1," + cell + "\n",
                             "jobs.csv");
  };
  CHECK(simulation::has_estimates(parse("7")));
  CHECK_FALSE(simulation::has_estimates(parse("")));
}

}  // namespace
}  // namespace trainyard
