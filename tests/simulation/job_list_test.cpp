#include "simulation/job_list.hpp"

#include <catch2/catch.hpp>

#include "simulation/scenario_folder.hpp"

namespace trainyard {
namespace {

using simulation::Job;
using simulation::Scenario;
using units::Nanoseconds;

constexpr std::int64_t kSecond = 1'000'000'000;

/// Two nodes of four V100; `jobs` begin on line 5.
Scenario parse(const std::string& jobs, const test::ScenarioFolder& folder = {}) {
  return folder.parse("name = \"x\"\n[cluster]\ntopology = \"node\"\nnodes = 2\n" + jobs);
}

/// One job; its keys begin on line 6.
Scenario parse_job(const std::string& keys) {
  return parse("[[job]]\n" + keys);
}

/// A trace in jobs.csv; keys of [jobs] beyond the trace in `keys`.
Scenario parse_trace(const std::string& csv, const std::string& keys = "") {
  const test::ScenarioFolder folder;
  folder.files().write("jobs.csv", csv);
  return parse("[jobs]\ntrace = \"jobs.csv\"\n" + keys, folder);
}

std::vector<std::string> ids(const Scenario& scenario) {
  std::vector<std::string> result;
  for (const Job& job : scenario.jobs) {
    result.push_back(job.id);
  }
  return result;
}

TEST_CASE("a job says what it runs, where it waits and how long", "[job-list]") {
  const Scenario scenario = parse_job(R"(name = "bert"
workload = "pair"
gpus = 2
submit = "90 s"
steps = 5000
queue = "research"
user = "ada"
priority = -3
class = "interactive"
memory = "31 GB"
)");
  REQUIRE(scenario.jobs.size() == 1);
  const Job& job = scenario.jobs.front();
  CHECK(job.id == "bert");
  CHECK(job.workload == 0);
  CHECK(job.gpus == 2);
  CHECK(job.submit == Nanoseconds{90 * kSecond});
  CHECK(job.amount.steps == 5000);
  CHECK_FALSE(job.amount.samples.has_value());
  CHECK_FALSE(job.amount.duration.has_value());
  CHECK(job.queue == "research");
  CHECK(job.user == "ada");
  CHECK(job.priority == -3);
  CHECK(job.job_class == "interactive");
  CHECK(job.memory->si() == Approx(31e9));
  CHECK(job.place.line == 5);
}

TEST_CASE("a job without a workload runs at recorded speed", "[job-list]") {
  const Scenario scenario = parse_job("name = \"a\"\ngpus = 1\nduration = \"1.5 h\"\n");
  const Job& job = scenario.jobs.front();
  CHECK(job.workload == -1);
  CHECK(job.amount.duration == Nanoseconds{5400 * kSecond});
  CHECK(job.submit == Nanoseconds{});
  CHECK(job.job_class == "training");
  CHECK_FALSE(job.memory.has_value());
  CHECK(scenario.notes.empty());
}

TEST_CASE("amounts are one of steps, samples and duration", "[job-list]") {
  const std::string job = "name = \"a\"\ngpus = 2\nworkload = \"pair\"\n";
  CHECK(parse_job(job + "samples = 12.5\n").jobs.front().amount.samples == Approx(12.5));
  CHECK(parse_job(job + "duration = \"3 s\"\n").jobs.front().amount.duration ==
        Nanoseconds{3 * kSecond});
  CHECK_THROWS_WITH(parse_job(job),
                    "s.toml:5:1: error: a job needs one of 'steps', 'samples' and 'duration'");
  CHECK_THROWS_WITH(parse_job(job + "steps = 3\nsamples = 6\n"),
                    "s.toml:10:11: error: 'samples' and 'steps' exclude each other: expected one "
                    "of 'steps', 'samples' and 'duration'");
  CHECK_THROWS_WITH(parse_job(job + "duration = \"1 s\"\nsamples = 6\n"),
                    Catch::StartsWith("s.toml:9:12: error: 'duration' and 'samples' exclude"));
  CHECK_THROWS_WITH(parse_job("name = \"a\"\ngpus = 1\nsteps = 3\n"),
                    "s.toml:8:9: error: 'steps' needs a 'workload'; without one a job runs for its "
                    "'duration'");
  CHECK_THROWS_WITH(
      parse_job("name = \"a\"\ngpus = 4\nworkload = \"halves\"\nsamples = 6\n"),
      "s.toml:9:11: error: workload \"halves\" does not say how many samples a step has: expected "
      "'steps' or 'duration'");
}

TEST_CASE("each value of a job is checked", "[job-list]") {
  const auto [keys, message] = GENERATE(table<std::string, std::string>({
      {"gpus = 1\nduration = \"1 s\"\n", "s.toml:5:1: error: missing key 'name' in [[job]]"},
      {"name = \"a\"\nduration = \"1 s\"\n", "s.toml:5:1: error: missing key 'gpus' in [[job]]"},
      {"name = \"\"\ngpus = 1\nduration = \"1 s\"\n",
       "s.toml:6:8: error: 'name' must not be empty"},
      {"name = \"a\"\ngpus = 0\nduration = \"1 s\"\n",
       "s.toml:7:8: error: 'gpus' must be an integer from 1 to 2147483647, got 0"},
      {"name = \"a\"\ngpus = 1.5\nduration = \"1 s\"\n",
       "s.toml:7:8: error: 'gpus' must be an integer from 1 to 2147483647, got 1.5"},
      {"name = \"a\"\ngpus = 9\nduration = \"1 s\"\n",
       "s.toml:7:8: error: job \"a\" asks for 9 GPUs, the cluster has 8"},
      {"name = \"a\"\ngpus = 1\nduration = \"0 s\"\n",
       "s.toml:8:12: error: 'duration' must be above 0"},
      {"name = \"a\"\ngpus = 1\nworkload = \"single\"\nsteps = 0\n",
       "s.toml:9:9: error: 'steps' must be an integer from 1 to 1000000000000, got 0"},
      {"name = \"a\"\ngpus = 1\nworkload = \"single\"\nsamples = -2\n",
       "s.toml:9:11: error: 'samples' must be above 0"},
      {"name = \"a\"\ngpus = 1\nduration = \"1 s\"\nclass = \"batch\"\n",
       "s.toml:9:9: error: 'class' must be \"interactive\", \"training\" or \"inference\", got "
       "\"batch\""},
      {"name = \"a\"\ngpus = 1\nduration = \"1 s\"\nmemory = \"0 GB\"\n",
       "s.toml:9:10: error: 'memory' must be above 0"},
      {"name = \"a\"\ngpus = 1\nduration = \"1 s\"\nsubmit_every = \"1 s\"\n",
       "s.toml:9:16: error: 'submit_every' needs 'count', the number of jobs"},
      {"name = \"a\"\ngpus = 1\nduration = \"1 s\"\ncount = 3\nsubmit_every = \"100 y\"\n",
       "s.toml:10:16: error: 'submit_every' puts the last of 3 jobs beyond 200 y"},
  }));
  CHECK_THROWS_WITH(parse_job(keys), message);
}

TEST_CASE("a workload that is not there is named", "[job-list]") {
  CHECK_THROWS_WITH(parse_job("name = \"a\"\ngpus = 1\nworkload = \"no-such-model\"\nsteps = 1\n"),
                    Catch::StartsWith("s.toml:8:12: error: \"no-such-model\" is neither a file nor "
                                      "a name that ships"));
}

TEST_CASE("a flat cluster runs no workloads", "[job-list]") {
  CHECK_THROWS_WITH(
      test::ScenarioFolder{}.parse("name = \"x\"\n[cluster]\nflat_gpus = 4\n[[job]]\nname = \"a\"\n"
                                   "gpus = 1\nworkload = \"single\"\nsteps = 1\n"),
      "s.toml:7:12: error: a workload needs a cluster with a topology; on a flat one jobs run at "
      "recorded speed");
}

TEST_CASE("count repeats a job", "[job-list]") {
  const Scenario scenario = parse_job(
      "name = \"a\"\ngpus = 1\nduration = \"1 s\"\nsubmit = \"5 s\"\ncount = 3\n"
      "submit_every = \"2 s\"\n");
  CHECK(ids(scenario) == std::vector<std::string>{"a-0", "a-1", "a-2"});
  CHECK(scenario.jobs[0].submit == Nanoseconds{5 * kSecond});
  CHECK(scenario.jobs[2].submit == Nanoseconds{9 * kSecond});
}

TEST_CASE("jobs come by submit, then in the order of the file", "[job-list]") {
  const Scenario scenario = parse(R"([[job]]
name = "late"
gpus = 1
duration = "1 s"
submit = "10 s"
[[job]]
name = "first"
gpus = 1
duration = "1 s"
[[job]]
name = "second"
gpus = 1
duration = "1 s"
)");
  CHECK(ids(scenario) == std::vector<std::string>{"first", "second", "late"});
}

TEST_CASE("two jobs of one name are refused, whatever made them", "[job-list]") {
  try {
    (void)parse(
        "[[job]]\nname = \"a-1\"\ngpus = 1\nduration = \"1 s\"\n"
        "[[job]]\nname = \"a\"\ngpus = 1\nduration = \"1 s\"\ncount = 2\n");
    FAIL("accepted");
  } catch (const input::InputError& error) {
    CHECK(std::string{error.what()} == "s.toml:10:8: error: two jobs are called \"a-1\"");
    CHECK(error.notes() == std::vector<std::string>{"s.toml:5:1: the other one"});
  }
}

TEST_CASE("memory that does not fit the GPU is refused with both numbers", "[job-list]") {
  CHECK_THROWS_WITH(parse_job("name = \"x\"\ngpus = 1\nworkload = \"large\"\nsteps = 1\n"),
                    "s.toml:8:12: error: job \"x\" needs 41.2 GB a GPU, v100-sxm2-32gb has 32 GB");
  CHECK_THROWS_WITH(
      parse_job("name = \"x\"\ngpus = 2\nworkload = \"pair\"\nsteps = 1\nmemory = \"33 GB\"\n"),
      "s.toml:10:10: error: job \"x\" needs 33 GB a GPU, v100-sxm2-32gb has 32 GB");
  CHECK_THROWS_WITH(parse_job("name = \"x\"\ngpus = 2\nduration = \"1 s\"\nmemory = \"33 GB\"\n"),
                    "s.toml:9:10: error: job \"x\" needs 33 GB a GPU, v100-sxm2-32gb has 32 GB");
}

TEST_CASE("a job's memory replaces the workload's", "[job-list]") {
  CHECK(parse_job("name = \"x\"\ngpus = 1\nworkload = \"large\"\nsteps = 1\nmemory = \"20 GB\"\n")
            .jobs.size() == 1);
}

TEST_CASE("unknown memory is allowed and noted once", "[job-list]") {
  const Scenario scenario =
      parse_job("name = \"x\"\ngpus = 1\nworkload = \"single\"\nsteps = 1\ncount = 5\n");
  CHECK(scenario.notes ==
        std::vector<std::string>{"the memory that workload \"single\" needs is unknown: not "
                                 "checked where a job does not say 'memory'"});
  CHECK(scenario.workloads.size() == 1);
  CHECK(parse_job("name = \"x\"\ngpus = 1\nworkload = \"single\"\nsteps = 1\n"
                  "memory = \"1 GB\"\n")
            .notes.empty());
}

TEST_CASE("a workload whose groups all span its ranks runs on any number of GPUs", "[job-list]") {
  const Scenario scenario = parse(
      "[[job]]\nname = \"a\"\ngpus = 8\nworkload = \"pair\"\nsteps = 1\ncount = 3\n"
      "[[job]]\nname = \"b\"\ngpus = 1\nworkload = \"pair\"\nsteps = 1\n"
      "[[job]]\nname = \"c\"\ngpus = 2\nworkload = \"pair\"\nsteps = 1\n");
  CHECK(scenario.jobs.size() == 5);
  CHECK(scenario.notes ==
        std::vector<std::string>{"job \"b\": workload \"pair\" was recorded on 2 GPUs and runs on "
                                 "1; each does what a recorded one did (weak scaling)",
                                 "job \"a-0\" and 2 more: workload \"pair\" was recorded on 2 GPUs "
                                 "and runs on 8; each does what a recorded one did (weak "
                                 "scaling)"});
}

TEST_CASE("groups that are parts of the ranks fix the number of GPUs", "[job-list]") {
  CHECK(parse_job("name = \"x\"\ngpus = 4\nworkload = \"halves\"\nsteps = 1\n").jobs.size() == 1);
  CHECK_THROWS_WITH(parse_job("name = \"x\"\ngpus = 8\nworkload = \"halves\"\nsteps = 1\n"),
                    "s.toml:7:8: error: job \"x\" asks for 8 GPUs, workload \"halves\" has 4 ranks "
                    "in groups that do not span them all: expected 4");
}

TEST_CASE("a trace at recorded speed needs durations only", "[job-list]") {
  const Scenario scenario = parse_trace(
      "job_id,submit_s,gpus,duration_s,workload\nb,2.5,1,10,unknown-model\na,1,8,0.5,\n",
      "speed = \"recorded\"\n");
  CHECK(ids(scenario) == std::vector<std::string>{"a", "b"});
  CHECK(scenario.jobs[1].submit == Nanoseconds{2'500'000'000});
  CHECK(scenario.jobs[1].workload == -1);
  CHECK(scenario.jobs[0].amount.duration == Nanoseconds{500'000'000});
  CHECK(scenario.workloads.empty());
}

TEST_CASE("a trace at simulated speed runs workloads", "[job-list]") {
  const Scenario scenario = parse_trace(
      "job_id,submit_s,gpus,duration_s,workload,steps,samples\n"
      "a,0,2,10,pair,70,\nb,0,2,10,pair,,800\nc,0,1,10,single,,\n");
  REQUIRE(scenario.jobs.size() == 3);
  CHECK(scenario.jobs[0].amount.steps == 70);
  CHECK_FALSE(scenario.jobs[0].amount.duration.has_value());
  CHECK(scenario.jobs[1].amount.samples == Approx(800));
  CHECK(scenario.jobs[2].amount.duration == Nanoseconds{10 * kSecond});
  CHECK(scenario.jobs[1].workload == 0);
  CHECK(scenario.jobs[2].workload == 1);
}

TEST_CASE("[[job]] and a trace stand side by side", "[job-list]") {
  const test::ScenarioFolder folder;
  folder.files().write("jobs.csv", "job_id,submit_s,gpus,duration_s\nt,0,1,1\n");
  const std::string jobs =
      "[[job]]\nname = \"own\"\ngpus = 1\nduration = \"1 s\"\n[jobs]\ntrace = \"jobs.csv\"\n"
      "speed = \"recorded\"\n";
  CHECK(ids(parse(jobs, folder)) == std::vector<std::string>{"own", "t"});
}

TEST_CASE("a row that cannot run is named by file, line and column", "[job-list]") {
  const std::string header = "job_id,submit_s,gpus,duration_s,workload,steps\n";
  const auto [row, keys, message] = GENERATE(table<std::string, std::string, std::string>({
      {"a,0,9,1,,\n", "speed = \"recorded\"\n",
       ":2:5: error: job \"a\" asks for 9 GPUs, the cluster has 8"},
      {"a,0,1,,,\n", "speed = \"recorded\"\n",
       ":2:7: error: 'duration_s' is needed at recorded speed"},
      {"a,0,1,1,,\n", "",
       ":2:9: error: 'workload' is needed at simulated speed; speed = \"recorded\" runs a job for "
       "its duration_s"},
      {"a,0,1,,single,\n", "",
       ":2:7: error: 'duration_s' is empty, and so are 'steps' and 'samples': expected one of "
       "them"},
      {"a,0,1,1,large,\n", "",
       ":2:9: error: job \"a\" needs 41.2 GB a GPU, v100-sxm2-32gb has 32 GB"},
      {"a,0,1,1,halves,\n", "",
       ":2:5: error: job \"a\" asks for 1 GPUs, workload \"halves\" has 4 ranks in groups that do "
       "not span them all: expected 4"},
      {"a,0,1,1,,\na,0,1,1,,\n", "speed = \"recorded\"\n",
       ":3:1: error: two jobs are called \"a\""},
  }));
  CHECK_THROWS_WITH(parse_trace(header + row, keys), Catch::EndsWith("/jobs.csv" + message));
}

TEST_CASE("[jobs] is checked", "[job-list]") {
  CHECK_THROWS_WITH(parse("[jobs]\ntrace = \"none.csv\"\n"),
                    "s.toml:6:9: error: no such file: \"none.csv\"");
  CHECK_THROWS_WITH(
      parse("[jobs]\ntrace = \"none.csv\"\nspeed = \"fast\"\n"),
      "s.toml:7:9: error: 'speed' must be \"simulated\" or \"recorded\", got \"fast\"");
  CHECK_THROWS_WITH(parse_trace("job_id,submit_s,gpus,duration_s\n"),
                    Catch::Contains("the scenario has no jobs"));
}

TEST_CASE("estimates are read by no policy yet, and a note says so", "[job-list]") {
  const Scenario scenario = parse_trace("job_id,submit_s,gpus,duration_s,estimate_s\na,0,1,1,5\n",
                                        "speed = \"recorded\"\n");
  CHECK(scenario.notes == std::vector<std::string>{
                              "estimate_s is not used: no policy of this version reads run times"});
}

}  // namespace
}  // namespace trainyard
