// Wrong input of every kind, given to the real program: one clear error, the right exit code, and
// nothing printed, written or overwritten.
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "support/temporary_folder.hpp"

using namespace trainyard;
namespace fs = std::filesystem;

namespace {

/// Two GPUs with one NVLink bridge; line 15 and what follows is that link.
const std::string kNode = R"(name = "desk"

[[gpu]]
name = "gpu{0..1}"
model = "titan-rtx"

[[cpu]]
name = "cpu"

[[nic]]
name = "eth0"
link = "eth-10"

[[link]]
between = ["gpu0", "gpu1"]
kind = "nvlink2"
bandwidth = "50 GB/s"

[[link]]
between = ["cpu", "gpu{0..1}"]
kind = "pcie3-x16"

[[link]]
between = ["cpu", "eth0"]
kind = "pcie3-x8"
)";

const std::string kScenario = R"(name = "bad"

[cluster]
topology = "node.toml"

[[job]]
name = "a"
workload = "dlrm-v100x8"
gpus = 2
steps = 10
memory = "1 GB"
)";

/// What the program answered.
struct Ran {
  int code = -1;  ///< -1: a signal ended it
  std::string out{};
  std::string err{};
};

/// A folder in which the program runs, with valid files that a case damages.
class Desk {
 public:
  Desk() {
    write("node.toml", kNode);
    write("s.toml", kScenario);
  }

  void write(const std::string& name, const std::string& text) const {
    folder_.write("desk/" + name, text);
  }

  /// Runs the program here; `before` are shell words in front of it, such as a limit.
  [[nodiscard]] Ran run(const std::string& arguments, const std::string& before = "") const {
    const std::string command = "cd '" + path().string() + "' && { " + before + " '" +
                                TRAINYARD_PROGRAM + "' " + arguments + "; } >../out 2>../err";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, folder_.read("out"), folder_.read("err")};
  }

  /// Every file below, with its content; a folder has none.
  [[nodiscard]] std::map<std::string, std::string> content() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator{path()}) {
      const std::string name = entry.path().lexically_relative(path()).string();
      all[name] = entry.is_regular_file() ? folder_.read("desk/" + name) : "";
    }
    return all;
  }

  [[nodiscard]] fs::path path() const { return folder_.path() / "desk"; }

 private:
  test::TemporaryFolder folder_{};
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// The whole promise of a wrong call. `place` is how stderr starts: the file, with line and column
/// where the format has lines; one that ends in ':' leaves the rest open.
/// `says` is a part of the first line.
void check_refused(const Desk& desk, const std::string& arguments, const std::string& place,
                   const std::string& says) {
  INFO(arguments);
  const auto before = desk.content();
  const Ran ran = desk.run(arguments);
  CHECK(ran.code == 2);
  CHECK(ran.out.empty());
  CHECK_THAT(ran.err, Catch::StartsWith(place.back() == ':' ? place : place + ": error: "));
  CHECK_THAT(ran.err.substr(0, ran.err.find('\n')), Catch::Contains(says));
  CHECK_THAT(ran.err, Catch::Matches("[^\n]*: error: [^\n]+\n(note: [^\n]*\n)*"));
  CHECK(desk.content() == before);
}

using Rows = std::vector<std::vector<std::string>>;

}  // namespace

TEST_CASE("the files that the cases damage are valid", "[bad input]") {
  const Desk desk;
  CHECK(desk.run("topology check node.toml").code == 0);
  CHECK(desk.run("run s.toml --out out").code == 0);
}

TEST_CASE("wrong topologies are refused at their place by every command", "[bad input]") {
  const Rows rows{
      {"\"titan-rtx\"", "\"titan-rtq\"", "node.toml:5:9", "unknown GPU \"titan-rtq\""},
      {"\"50 GB/s\"", "\"0 GB/s\"", "node.toml:17:13", "a bandwidth above 0"},
      {"\"50 GB/s\"", "\"-50 GB/s\"", "node.toml:17:13", "got \"-50 GB/s\""},
      {"\"50 GB/s\"", "\"nan GB/s\"", "node.toml:17:13", "got \"nan GB/s\""},
      {"\"50 GB/s\"", "nan", "node.toml:17:13", "got nan"},
      {"\"50 GB/s\"", "\"inf GB/s\"", "node.toml:17:13", "got \"inf GB/s\""},
      {"\"50 GB/s\"", "50", "node.toml:17:13", "such as \"25 GB/s\", got 50"},
      {"\"gpu1\"]", "\"gpu7\"]", "node.toml:15:20", "\"gpu7\", which is no device of this node"},
      {"\"pcie3-x16\"", "\"pcie3-x15\"", "node.toml:21:8", "did you mean \"pcie3-x16\"?"},
      {"name = \"cpu\"", "name = \"gpu1\"", "node.toml:8:8", "\"gpu1\""},
      {"name = \"desk\"", "name = \"desk", "node.toml:1:", ""},
      {"[[cpu]]", "[[cpu]", "node.toml:7:", ""},
  };
  for (const auto& row : rows) {
    INFO(row[0] << " -> " << row[1]);
    const Desk desk;
    desk.write("node.toml", replaced(kNode, row[0], row[1]));
    check_refused(desk, "topology check node.toml", row[2], row[3]);
    check_refused(desk, "run s.toml --out out", row[2], row[3]);
  }
  const Desk desk;
  desk.write("node.toml", replaced(kNode, "titan-rtx", "titan-rty"));
  for (const char* call :
       {"topology show node.toml", "topology matrix node.toml", "collective --topology node.toml",
        "predict --topology node.toml --workload dlrm-v100x8",
        "topology plot node.toml -o x.svg"}) {
    check_refused(desk, call, "node.toml:5:9", "unknown GPU \"titan-rty\"");
  }
}

TEST_CASE("a graph that falls apart is refused", "[bad input]") {
  const Desk desk;
  // gpu1 loses both its links
  desk.write("node.toml", replaced(replaced(kNode, "\"gpu0\", \"gpu1\"", "\"gpu0\", \"cpu\""),
                                   "[\"cpu\", \"gpu{0..1}\"]", "[\"cpu\", \"gpu0\"]"));
  check_refused(desk, "topology check node.toml", "node.toml:1:1",
                "no path from \"gpu0\" to \"gpu1\"");
  check_refused(desk, "run s.toml --out out", "node.toml:1:1", "no path from");
}

TEST_CASE("wrong scenarios are refused at their place", "[bad input]") {
  const std::string job =
      "[[job]]\nname = \"a\"\nworkload = \"dlrm-v100x8\"\ngpus = 1\nsteps = 1\nmemory = \"1 GB\"\n";
  const Rows rows{
      {"gpus = 2", "gpus = 3", ":9:8", "job \"a\" asks for 3 GPUs, the cluster has 2"},
      {"gpus = 2", "gpus = \"two\"", ":9:8", "must be an integer"},
      {"gpus = 2", "gpus = 0", ":9:8", "must be an integer from 1"},
      {"gpus = 2", "gpus = 2.5", ":9:8", "must be an integer"},
      {"steps = 10", "steps = -1", ":10:9", "-1"},
      {"steps = 10", "steps = 99999999999999999999", ":10:", "not representable in 64 bits"},
      {"\"1 GB\"", "\"-1 GB\"", ":11:10", "\"-1 GB\""},
      {"\"1 GB\"", "\"100 GB\"", ":11:10", "100 GB"},
      {"\"1 GB\"", "nan", ":11:10", "nan"},
      {"memory", "memroy", ":11:1", "did you mean \"memory\"?"},
      {"node.toml", "nosuch", ":4:12", "neither a file nor a name that ships"},
      {"node.toml", "none/node.toml", ":4:12", "none/node.toml"},
      {"dlrm-v100x8", "nosuch", ":8:12", "neither a file nor a name that ships"},
      {"[[job]]", job + "[[job]]", ":13:8", "two jobs are called \"a\""},
      {"\"node.toml\"", "\"node.toml\"\ntopology = \"node.toml\"", ":5:", "topology"},
      {"[cluster]", "[cluster", ":3:", ""},
  };
  for (const auto& row : rows) {
    INFO(row[0] << " -> " << row[1]);
    const Desk desk;
    desk.write("s.toml", replaced(kScenario, row[0], row[1]));
    check_refused(desk, "run s.toml --out out", "s.toml" + row[2], row[3]);
  }
}

TEST_CASE("wrong words on the command line are refused", "[bad input]") {
  const Desk desk;
  const std::string collective = "collective --topology node.toml ";
  const std::string predict = "predict --topology node.toml --workload dlrm-v100x8 ";
  const Rows rows{
      {collective + "--min 0", "--min must be a size from 1 B"},
      {collective + "--max 0B", "--max must be a size from 1 B"},
      {collective + "--min -8", "--min must be a size from 1 B"},
      {collective + "--max nan", "got \"nan\""},
      {collective + "--max inf", "got \"inf\""},
      {collective + "--max 1e30GiB", "to 1 PiB"},
      {collective + "--max 18446744073709551617", "to 1 PiB"},
      {collective + "--max 8QB", "got \"8QB\""},
      {collective + "--min 16 --max 8", "--min must not be more than --max"},
      {collective + "--gpus 3", "2 GPUs, got 3"},
      {collective + "--gpus 0", "--gpus must be an integer from 1"},
      {collective + "--gpus two", "got \"two\""},
      {collective + "--nodes 99999999999999999999", "--nodes must be an integer from 1"},
      {collective + "--op all_reduc", "did you mean \"all_reduce\"?"},
      {collective + "--algorithm ringg", "did you mean \"ring\"?"},
      {collective + "--topology node.toml", "--topology"},
      {predict, "wants 8 GPUs, topology \"desk\" has 2"},
      {predict + "--gpus 3", "wants 3 GPUs, topology \"desk\" has 2"},
      {predict + "--gpus 2x", "got \"2x\""},
      {predict + "--gpus 2 --what-if align", "align"},
      {"predict --topology nosuch --workload dlrm-v100x8", "\"nosuch\" is neither"},
      {"predict --topology node.toml --workload nosuch", "\"nosuch\" is neither"},
      {"topology check dgx-1-v10", "\"dgx-1-v10\""},
      {"run s.toml --out out --seed x", "got \"x\""},
      {"run s.toml --out out --set cluster.nodes", "cluster.nodes"},
      {"validate ncl", "got \"ncl\""},
      {"run", "SCENARIO"},
  };
  for (const auto& row : rows) {
    check_refused(desk, row[0], "command line", row[1]);
  }
}

TEST_CASE("files that are missing or empty are refused by every reader", "[bad input]") {
  const Desk desk;
  for (const char* name :
       {"empty.toml", "empty.json", "empty.json.gz", "empty.csv", "empty.xml", "folder/file"}) {
    desk.write(name, "");
  }
  const Rows rows{
      {"run none.toml", "none.toml", "cannot open"},
      {"run empty.toml", "empty.toml:1:1", "missing key"},
      {"run folder", "folder", ""},
      {"topology check none.toml", "command line", "\"none.toml\" is neither a file"},
      {"topology check empty.toml", "empty.toml:1:1", "neither [[gpu]]"},
      {"topology check folder", "folder", ""},
      {"topology import none.xml -o x.toml", "none.xml", "cannot open"},
      {"topology import empty.xml -o x.toml", "empty.xml", "none of the formats"},
      {"topology import folder -o x.toml", "folder", ""},
      {"workload import none.json -o w.json", "none.json", ""},
      {"workload import empty.json -o w.json", "empty.json", "the file is empty"},
      {"workload import empty.json.gz -o w.json", "empty.json.gz", "the file is empty"},
      {"workload import folder -o w.json", "folder", "the folder holds no profile"},
      {"workload check none.json", "command line", "\"none.json\" is neither a file"},
      {"workload check empty.json", "empty.json", "the file is empty"},
      {"workload check folder", "folder", ""},
      {"validate nccl --against none.csv", "none.csv", "cannot open"},
      {"validate nccl --against empty.csv", "empty.csv", "the file is empty"},
      {"collective --topology node.toml --msccl none.xml", "none.xml", "cannot open"},
      {"collective --topology node.toml --msccl empty.xml", "empty.xml:1:1", ""},
  };
  for (const auto& row : rows) {
    check_refused(desk, row[0], row[1], row[2]);
  }
}
