// Whatever is wrong with the input: one line that says so, exit 2, and nothing written.
#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <regex>

#include "input/files.hpp"
#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"

using namespace trainyard;
namespace fs = std::filesystem;

namespace {

const fs::path kSource{TRAINYARD_SOURCE_DIR};

/// Two GPUs that share a PCIe switch; each case changes one thing.
const char* const kNode = R"(name = "pair"
[[gpu]]
name = "gpu{0..1}"
model = "v100-pcie-32gb"
[[pcie_switch]]
name = "plx"
[[cpu]]
name = "cpu"
[[link]]
between = ["gpu{0..1}", "plx"]
kind = "pcie3-x16"
[[link]]
between = ["plx", "cpu"]
kind = "pcie3-x16"
)";

const char* const kScenario = R"(name = "small"
[cluster]
topology = "dgx-1-v100"
[scheduler]
policy = "fifo"
placement = "pack"
[[job]]
name = "a"
workload = "dlrm-v100x8"
gpus = 8
steps = 3
memory = "20 GB"
)";

/// A Kineto profile of one kernel that one launch started.
const char* const kProfile = R"({"schemaVersion": 1,
"deviceProperties": [{"id": 0, "name": "Tesla V100-SXM2-16GB"}],
"traceEvents": [
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 10, "dur": 5,
  "args": {"correlation": 7}},
 {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 20, "dur": 9,
  "args": {"correlation": 7, "device": 0, "stream": 7}}
]})";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// Names and contents of all files below a folder.
std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator{folder}) {
    if (entry.is_regular_file()) {
      found[entry.path().string()] = input::read_file(entry.path());
    }
  }
  return found;
}

/// Runs the command; checks what holds for every wrong input; returns the message's first line.
std::string refusal(const test::TemporaryFolder& folder, const std::vector<std::string>& words) {
  const auto before = contents(folder.path());
  const auto ran = test::run_program(words);
  CAPTURE(words, ran.err);
  CHECK(ran.code == 2);
  CHECK(ran.out.empty());
  static const std::regex shape{"[^\n]+: error: [^\n]+\n(note: [^\n]*\n)*"};
  CHECK(std::regex_match(ran.err, shape));
  CHECK(contents(folder.path()) == before);
  return ran.err.substr(0, ran.err.find('\n'));
}

void check_message(const std::string& message, const std::string& wanted) {
  CAPTURE(message, wanted);
  CHECK(message.find(wanted) != std::string::npos);
}

}  // namespace

TEST_CASE("wrong topologies are refused with their place", "[bad-input]") {
  struct Case {
    const char* from;
    const char* to;
    const char* message;
  };
  const auto [from, to, message] = GENERATE(
      Case{"v100-pcie-32gb", "v100-pcie-33gb", "node.toml:4:9: error: unknown GPU"},
      Case{"\"plx\", \"cpu\"]", "\"plx\", \"cqu\"]", "node.toml:13:"},
      Case{"kind = \"pcie3-x16\"", "kind = \"pcie3-x16\"\nbandwidth = \"0 GB/s\"", "node.toml:12:"},
      Case{"kind = \"pcie3-x16\"", "kind = \"pcie3-x16\"\nbandwidth = \"-3 GB/s\"",
           "node.toml:12:"},
      Case{"kind = \"pcie3-x16\"", "kind = \"pcie3-x16\"\nbandwidth = \"nan GB/s\"",
           "node.toml:12:"},
      Case{"kind = \"pcie3-x16\"", "kind = \"pcie3-x16\"\nbandwidth = 3", "node.toml:12:"},
      Case{"kind = \"pcie3-x16\"", "kind = \"pcie3-x17\"", "did you mean \"pcie3-x16\""},
      Case{"[\"gpu{0..1}\", \"plx\"]", "[\"gpu0\", \"plx\"]", "node.toml"},
      Case{"name = \"cpu\"", "name = \"plx\"", "node.toml:8:"},
      Case{"model = ", "modle = 1\nmodel = ", "did you mean \"model\"?"},
      Case{"[[cpu]]", "[[cpu]", "node.toml:7:"});
  const test::TemporaryFolder folder;
  const auto path = folder.write("node.toml", with(kNode, from, to)).string();
  check_message(refusal(folder, {"topology", "check", path}), message);
  check_message(refusal(folder, {"collective", "--topology", path}), message);
}

TEST_CASE("the topology that the cases start from is right", "[bad-input]") {
  const test::TemporaryFolder folder;
  const auto path = folder.write("node.toml", kNode).string();
  CHECK(test::run_program({"topology", "check", path}).code == 0);
}

TEST_CASE("files that are missing, empty or something else", "[bad-input]") {
  const test::TemporaryFolder folder;
  const auto empty = folder.write("empty.json", "").string();
  const auto text = folder.write("text.txt", "hello\n").string();
  const std::string out = (folder.path() / "out.json").string();
  check_message(refusal(folder, {"run", "no-such.toml"}), "no-such.toml: error: ");
  check_message(refusal(folder, {"topology", "show", "no-such"}), "no-such");
  check_message(refusal(folder, {"workload", "import", "no-such.json", "-o", out}), "no-such.json");
  check_message(refusal(folder, {"workload", "import", empty, "-o", out}), "empty.json");
  check_message(refusal(folder, {"workload", "import", text, "-o", out}), "text.txt");
  check_message(refusal(folder, {"workload", "check", empty}), "empty.json");
  check_message(refusal(folder, {"run", folder.path().string()}), folder.path().string());
}

TEST_CASE("profiles that are cut, have no GPU work or lie", "[bad-input]") {
  const test::TemporaryFolder folder;
  const std::string out = (folder.path() / "out.json").string();
  const auto import = [&](const std::string& name, const std::string& text) {
    return refusal(folder, {"workload", "import", folder.write(name, text).string(), "-o", out});
  };
  const std::string whole = kProfile;
  check_message(import("cut.json", whole.substr(0, whole.size() - 40)), "cut.json");
  check_message(import("no-gpu.json", with(whole, "\"cat\": \"kernel\"", "\"cat\": \"cpu_op\"")),
                "no-gpu.json");
  // A gzip member of "{}", cut before its last bytes.
  const std::string gzip{
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xab\xae\x05\x00\x43\xbf\xa6\xa3\x02\x00\x00\x00",
      22};
  check_message(import("cut.json.gz", gzip.substr(0, 12)), "cut.json.gz");
  check_message(import("back.json", with(whole, "\"dur\": 9", "\"dur\": -9")), "back.json");
}

TEST_CASE("scenarios that cannot run", "[bad-input]") {
  struct Case {
    const char* from;
    const char* to;
    const char* message;
  };
  const auto [from, to, message] = GENERATE(
      Case{"gpus = 8", "gpus = 16", "s.toml:10:"}, Case{"gpus = 8", "gpus = 0", "s.toml:10:"},
      Case{"gpus = 8", "gpus = \"8\"", "s.toml:10:"},
      Case{"dlrm-v100x8", "dlrm-v100x9", "did you mean \"dlrm-v100x8\""},
      Case{"\"fifo\"", "\"lifo\"", "s.toml:5:"}, Case{"\"pack\"", "\"stack\"", "s.toml:6:"},
      Case{"steps = 3", "steps = -3", "s.toml:11:"}, Case{"\"20 GB\"", "\"20 TB\"", "s.toml:"},
      Case{"steps = 3", "steps = 3\nstepz = 3", "did you mean \"steps\"?"},
      Case{"memory = \"20 GB\"",
           "memory = \"20 GB\"\n[[job]]\nname = \"a\"\nworkload = "
           "\"dlrm-v100x8\"\ngpus = 8\nsteps = 1\nmemory = \"1 GB\"",
           "s.toml:14:"});
  const test::TemporaryFolder folder;
  const auto path = folder.write("s.toml", with(kScenario, from, to)).string();
  const auto out = (folder.path() / "results").string();
  check_message(refusal(folder, {"run", path, "--out", out}), message);
  CHECK_FALSE(fs::exists(out));
}

TEST_CASE("a results folder that exists stays as it is", "[bad-input]") {
  const test::TemporaryFolder folder;
  const auto path = folder.write("s.toml", kScenario).string();
  folder.write("results/precious.txt", "mine");
  const auto out = (folder.path() / "results").string();
  check_message(refusal(folder, {"run", path, "--out", out}), "results");
  CHECK(folder.read("results/precious.txt") == "mine");
}

TEST_CASE("a run whose results cannot be written fails with 1 and leaves nothing", "[bad-input]") {
  const test::TemporaryFolder folder;
  const auto path = folder.write("s.toml", kScenario).string();
  // The parent of the results is a file: for a full disk see tests/results.
  folder.write("blocked", "");
  const auto ran =
      test::run_program({"run", path, "--out", (folder.path() / "blocked" / "results").string()});
  CAPTURE(ran.err);
  CHECK((ran.code == 1 || ran.code == 2));
  CHECK(ran.err.find("error: ") != std::string::npos);
  CHECK(folder.read("blocked").empty());
}

TEST_CASE("groups and sizes of collectives and predictions", "[bad-input]") {
  const test::TemporaryFolder folder;
  const auto predict = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"predict", "--topology", "dgx-1-v100", "--workload",
                                   "dlrm-v100x8"};
    words.insert(words.end(), more.begin(), more.end());
    return refusal(folder, words);
  };
  check_message(predict({"--gpus", "16"}), "wants 16 GPUs, topology \"dgx-1-v100\" has 8");
  check_message(predict({"--gpus", "0"}), "--gpus");
  check_message(predict({"--gpus", "many"}), "--gpus");
  check_message(predict({"--nodes", "-1"}), "--nodes");
  check_message(predict({"--what-if", "gpu=h1000"}), "--what-if");
  const auto xml = folder.write("cut.xml", "<system version=\"1\"><cpu numaid=\"0\"").string();
  check_message(
      refusal(folder, {"topology", "import", xml, "-o", (folder.path() / "machine.toml").string()}),
      "cut.xml:1:");
}
