#include "simulation/scenario.hpp"

#include <catch2/catch.hpp>

#include "input/files.hpp"
#include "simulation/scenario_folder.hpp"

namespace trainyard {
namespace {

using simulation::Detail;
using simulation::Scenario;
using units::Nanoseconds;

constexpr std::int64_t kSecond = 1'000'000'000;

Scenario parse(const std::string& text) {
  return simulation::parse_scenario(input::Document::parse(text, "s.toml"), "");
}

/// A scenario on 16 flat GPUs: eight lines, then `more`.
Scenario parse_flat(const std::string& more) {
  return parse(R"(name = "flat"
[cluster]
flat_gpus = 16
[[job]]
name = "a"
gpus = 4
duration = "10 s"
)" + more);
}

Scenario parse_cluster(const std::string& keys) {
  return parse("name = \"x\"\n[[job]]\nname = \"a\"\ngpus = 1\nduration = \"1 s\"\n[cluster]\n" +
               keys);
}

TEST_CASE("a scenario without more gets every default", "[scenario]") {
  const Scenario scenario = parse_flat("");
  CHECK(scenario.name == "flat");
  CHECK(scenario.cluster_text == "flat");
  CHECK(scenario.cluster->gpus() == 16);
  CHECK(scenario.policy == "fifo");
  CHECK(scenario.placement == "pack");
  CHECK(scenario.seed == 1);
  CHECK(scenario.detail == Detail::sampled);
  CHECK_FALSE(scenario.max_time.has_value());
  CHECK(scenario.notes.empty());
  CHECK(scenario.inputs.empty());
  REQUIRE(scenario.jobs.size() == 1);
  CHECK(scheduling::make_policy(scenario.scheduler));
}

TEST_CASE("[run] and [scheduler] are read", "[scenario]") {
  const Scenario scenario = parse_flat(R"([scheduler]
policy = "fifo-best-effort"
placement = "spread"
span = "fit-node"
order = "submit"
[run]
seed = 7
detail = "full"
max_time = "90 days"
)");
  CHECK(scenario.policy == "fifo-best-effort");
  CHECK(scenario.placement == "spread");
  CHECK(scenario.seed == 7);
  CHECK(scenario.detail == Detail::full);
  CHECK(scenario.max_time == Nanoseconds{90 * 86400 * kSecond});
}

TEST_CASE("a flat cluster is one pool or nodes", "[scenario]") {
  CHECK(parse_cluster("flat_gpus = 16\n").cluster->nodes() == 1);
  const Scenario nodes = parse_cluster("nodes = 8\ngpus_per_node = 4\n");
  CHECK(nodes.cluster->nodes() == 8);
  CHECK(nodes.cluster->gpus() == 32);
  CHECK(nodes.cluster_text == "flat");
}

TEST_CASE("a topology is found beside the scenario and its node count can be set", "[scenario]") {
  const test::ScenarioFolder folder;
  const Scenario scenario = folder.parse(R"(name = "x"
[cluster]
topology = "node"
nodes = 3
[[job]]
name = "a"
workload = "pair"
gpus = 2
steps = 10
)");
  CHECK(scenario.cluster->nodes() == 3);
  CHECK(scenario.cluster->gpus() == 12);
  CHECK(scenario.cluster_text == scenario.cluster->name());
  REQUIRE(scenario.workloads.size() == 1);
  CHECK(scenario.workloads.front().world_size == 2);
  CHECK(scenario.workload_names == std::vector<std::string>{"pair"});
}

TEST_CASE("what [cluster] says must be one thing", "[scenario]") {
  const std::string expected =
      "s.toml:6:1: error: a cluster is a 'topology', or 'flat_gpus', or 'nodes' with "
      "'gpus_per_node'";
  CHECK_THROWS_WITH(parse_cluster(""), expected);
  CHECK_THROWS_WITH(parse_cluster("nodes = 4\n"), expected);
  CHECK_THROWS_WITH(parse_cluster("gpus_per_node = 4\n"), expected);
  CHECK_THROWS_WITH(parse_cluster("flat_gpus = 4\nnodes = 1\n"), expected);
  CHECK_THROWS_WITH(parse_cluster("topology = \"dgx-1-v100\"\nflat_gpus = 4\n"),
                    "s.toml:8:13: error: 'flat_gpus' and 'topology' exclude each other");
  CHECK_THROWS_WITH(parse_cluster("topology = \"dgx-1-v100\"\ngpus_per_node = 4\n"),
                    "s.toml:8:17: error: 'gpus_per_node' and 'topology' exclude each other");
  CHECK_THROWS_WITH(parse_cluster("flat_gpus = 4\nnics = 1\n"),
                    "s.toml:8:8: error: 'nics' needs a 'topology'");
  CHECK_THROWS_WITH(parse_cluster("flat_gpus = 0\n"),
                    "s.toml:7:13: error: 'flat_gpus' must be an integer from 1 to 1000000, got 0");
  CHECK_THROWS_WITH(parse_cluster("nodes = 1000000\ngpus_per_node = 1000000\n"),
                    "s.toml:8:17: error: 'gpus_per_node' makes more than 1000000 GPUs");
  CHECK_THROWS_WITH(parse_cluster("topologie = \"dgx-1-v100\"\n"),
                    "s.toml:7:1: error: unknown key 'topologie' in [cluster], did you mean "
                    "\"topology\"?");
  CHECK_THROWS_WITH(parse_cluster("topology = \"no-such-cluster-anywhere\"\n"),
                    Catch::StartsWith("s.toml:7:12: error: \"no-such-cluster-anywhere\" is neither "
                                      "a file nor a name that ships"));
}

TEST_CASE("what a scenario needs is asked for", "[scenario]") {
  CHECK_THROWS_WITH(parse("[cluster]\nflat_gpus = 4\n"), "s.toml:1:1: error: missing key 'name'");
  CHECK_THROWS_WITH(parse("name = \"x\"\n"), "s.toml:1:1: error: missing key 'cluster'");
  CHECK_THROWS_WITH(
      parse("name = \"x\"\n[cluster]\nflat_gpus = 4\n"),
      "s.toml:1:1: error: the scenario has no jobs: expected [[job]] or [jobs] with a 'trace'");
  CHECK_THROWS_WITH(parse("name = \"x\"\n[cluster]\nflat_gpus = 4\n[jobs]\n"),
                    "s.toml:4:1: error: missing key 'trace' in [jobs]");
}

TEST_CASE("the name must do as the name of a folder", "[scenario]") {
  const std::string name = GENERATE("", "a/b", "..", ".hidden");
  CHECK_THROWS_WITH(parse("name = \"" + name + "\"\n[cluster]\nflat_gpus = 4\n"),
                    "s.toml:1:8: error: 'name' must be a name for a folder, got \"" + name + "\"");
}

TEST_CASE("what this version does not act on is refused, not ignored", "[scenario]") {
  const auto [text, message] = GENERATE(table<std::string, std::string>({
      {"[failures]\ngpu_mtbf = \"5 y\"\n", "s.toml:8:1: error: [failures]"},
      {"[costs]\ncheckpoint = \"20 s\"\n", "s.toml:8:1: error: [costs]"},
      {"[prices]\nkwh = 0.15\n", "s.toml:8:1: error: [prices]"},
      {"[metrics]\nwarm_up = \"1 h\"\n", "s.toml:8:1: error: [metrics]"},
      {"[[event]]\nat = \"2 h\"\n", "s.toml:8:1: error: [[event]]"},
      {"[scheduler]\nvictims = \"youngest\"\n", "s.toml:9:11: error: 'victims'"},
      {"[scheduler]\nthresholds = [\"8 GPU s\"]\n", "s.toml:9:14: error: 'thresholds'"},
      {"[scheduler]\npromote_after = 0\n", "s.toml:9:17: error: 'promote_after'"},
      {"[scheduler.rounds]\nlength = \"6 min\"\n", "s.toml:8:1: error: [scheduler.rounds]"},
      {"[scheduler.quota.research]\nlimit = 3\n", "s.toml:8:1: error: [scheduler.quota]"},
      {"[jobs.generate]\ncount = 3\n", "s.toml:8:1: error: [jobs.generate]"},
      {"straggler = \"3:1.2\"\n", "s.toml:8:13: error: 'straggler'"},
      {"min_gpus = 1\n", "s.toml:8:12: error: 'min_gpus'"},
  }));
  CHECK_THROWS_WITH(parse_flat(text), message + " is not supported by this version");
}

TEST_CASE("unknown keys suggest the nearest known one", "[scenario]") {
  const auto [text, message] = GENERATE(table<std::string, std::string>({
      {"[schedular]\n", "s.toml:8:2: error: unknown key 'schedular', did you mean \"scheduler\"?"},
      {"[scheduler]\nplacment = \"pack\"\n",
       "s.toml:9:1: error: unknown key 'placment' in [scheduler], did you mean \"placement\"?"},
      {"[run]\nsead = 1\n",
       "s.toml:9:1: error: unknown key 'sead' in [run], did you mean \"seed\"?"},
      {"[jobs]\ntrace = \"x.csv\"\nspead = \"recorded\"\n",
       "s.toml:10:1: error: unknown key 'spead' in [jobs], did you mean \"speed\"?"},
      {"prioritty = 3\n",
       "s.toml:8:1: error: unknown key 'prioritty' in [[job]], did you mean \"priority\"?"},
  }));
  CHECK_THROWS_WITH(parse_flat(text), message);
}

TEST_CASE("values of [scheduler] and [run] are checked", "[scenario]") {
  const auto [text, message] = GENERATE(table<std::string, std::string>({
      {"[scheduler]\npolicy = \"easy\"\n",
       "s.toml:9:10: error: unknown policy \"easy\" (known: fifo, fifo-best-effort)"},
      {"[scheduler]\nplacement = \"yarn\"\n",
       "s.toml:9:13: error: unknown placement \"yarn\" (known: count, pack, spread)"},
      {"[scheduler]\nspan = \"rack\"\n",
       "s.toml:9:8: error: 'span' must be \"any\" or \"fit-node\", got \"rack\""},
      {"[scheduler]\norder = \"running-first\"\n",
       "s.toml:9:9: error: 'order' must be \"submit\", got \"running-first\": no other is "
       "supported by this version"},
      {"[run]\nseed = -1\n", "s.toml:9:8: error: 'seed' must be an integer of at least 0, got -1"},
      {"[run]\ndetail = \"some\"\n",
       "s.toml:9:10: error: 'detail' must be \"sampled\" or \"full\", got \"some\""},
      {"[run]\nmax_time = \"0 s\"\n", "s.toml:9:12: error: 'max_time' must be above 0"},
  }));
  CHECK_THROWS_WITH(parse_flat(text), message);
}

TEST_CASE("a scenario file is read with overrides, and says so", "[scenario]") {
  const test::TemporaryFolder folder;
  const std::string text = R"(name = "flat"

[cluster]
flat_gpus = 16

[[job]]
name = "a"
gpus = 4
duration = "10 s"
)";
  const auto path = folder.write("s.toml", text).string();
  const Scenario scenario = simulation::load_scenario(path, {{"run.seed", "5"},
                                                             {"run.detail", "full"},
                                                             {"scheduler.placement", "spread"},
                                                             {"job.0.gpus", "8"}});
  CHECK(scenario.seed == 5);
  CHECK(scenario.detail == Detail::full);
  CHECK(scenario.placement == "spread");
  CHECK(scenario.jobs.front().gpus == 8);
  CHECK(scenario.resolved_toml == R"(name = "flat"

[cluster]
flat_gpus = 16

[[job]]
name = "a"
gpus = 8
duration = "10 s"

[run]
seed = 5
detail = "full"

[scheduler]
placement = "spread"
)");
  // the scenario itself, by its name only: the digest is of the file, not of what --set made of it
  REQUIRE(scenario.inputs.size() == 1);
  CHECK(scenario.inputs.front().name == "s.toml");
  CHECK(scenario.inputs.front().sha256 == input::sha256(text));
}

TEST_CASE("a wrong override is named as it was given", "[scenario]") {
  const test::TemporaryFolder folder;
  const auto path = folder.write("s.toml", "name = \"flat\"\n[cluster]\nflat_gpus = 16\n").string();
  CHECK_THROWS_WITH(simulation::load_scenario(path, {{"scheduler.policy", "lifo"}}),
                    "--set scheduler.policy=lifo: error: unknown policy \"lifo\" (known: fifo, "
                    "fifo-best-effort)");
  CHECK_THROWS_WITH(simulation::load_scenario(path, {{"run.sed", "1"}}),
                    Catch::StartsWith("--set run.sed=1: error: unknown key 'sed' in [run]"));
}

TEST_CASE("a scenario file that cannot be read is an input error", "[scenario]") {
  const test::TemporaryFolder folder;
  const std::string missing = (folder.path() / "no.toml").string();
  CHECK_THROWS_WITH(simulation::load_scenario(missing, {}),
                    missing + ": error: cannot open: No such file or directory");
  const std::string empty = folder.write("empty.toml", "").string();
  CHECK_THROWS_WITH(simulation::load_scenario(empty, {}),
                    empty + ":1:1: error: missing key 'name'");
}

TEST_CASE("every file that shapes the result is an input", "[scenario]") {
  const test::ScenarioFolder folder;
  const std::string jobs = "job_id,submit_s,gpus,duration_s,workload\nt,0,1,10,single\n";
  folder.files().write("jobs.csv", jobs);
  const auto path = folder.files().write("s.toml", R"(name = "x"
[cluster]
topology = "node"
[[job]]
name = "a"
workload = "pair"
gpus = 2
steps = 10
[[job]]
name = "b"
workload = "pair"
gpus = 2
steps = 10
[jobs]
trace = "jobs.csv"
)");
  const Scenario scenario = simulation::load_scenario(path.string(), {});
  std::vector<std::string> names;
  for (const auto& input : scenario.inputs) {
    if (!input.name.starts_with("topologies/catalog/")) {
      names.push_back(input.name);
    }
    CHECK(input.name.front() != '/');
    CHECK(input.sha256.size() == 64);
  }
  CHECK(names == std::vector<std::string>{"s.toml", "node", "pair", "jobs.csv", "single"});
  CHECK(scenario.inputs.size() > names.size());  // the catalogues
  CHECK(scenario.inputs[1].sha256 == input::sha256(test::ScenarioFolder::kNode));
}

TEST_CASE("a cluster file brings its node files along as inputs", "[scenario]") {
  const Scenario scenario =
      simulation::load_scenario(std::string{TRAINYARD_SOURCE_DIR} + "/sim/quickstart.toml", {});
  std::vector<std::string> names;
  for (const auto& input : scenario.inputs) {
    names.push_back(input.name);
  }
  for (const std::string expected :
       {"quickstart.toml", "topologies/clusters/superpod-a100-1su.toml",
        "topologies/nodes/dgx-a100-40gb.toml", "topologies/catalog/gpus.toml",
        "workloads/resnet50-ddp-a100x2.json"}) {
    INFO(expected);
    CHECK(std::ranges::count(names, expected) == 1);
  }
}

}  // namespace
}  // namespace trainyard
