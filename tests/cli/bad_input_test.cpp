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
const std::string node_text = R"(name = "desk"

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

const std::string scenario_text = R"(name = "bad"

[cluster]
topology = "node.toml"

[[job]]
name = "a"
workload = "dlrm-v100x8"
gpus = 2
steps = 10
memory = "1 GB"
)";

/// Rank 0 of 2: an all-reduce of 10 floats.
const std::string profile_text = R"({"distributedInfo":{"rank":0,"world_size":2},"traceEvents":[
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":1,"ts":5,"dur":2,
"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"ncclKernel_AllReduce","ts":10,"dur":20,
"args":{"device":0,"stream":7,"correlation":1,"Collective name":"allreduce","In msg nelems":10,
"dtype":"Float","Process Group Name":"0","Process Group Ranks":"[0, 1]"}}
]})";

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
    write("node.toml", node_text);
    write("s.toml", scenario_text);
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
    desk.write("node.toml", replaced(node_text, row[0], row[1]));
    check_refused(desk, "topology check node.toml", row[2], row[3]);
    check_refused(desk, "run s.toml --out out", row[2], row[3]);
  }
  const Desk desk;
  desk.write("node.toml", replaced(node_text, "titan-rtx", "titan-rty"));
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
  desk.write("node.toml", replaced(replaced(node_text, "\"gpu0\", \"gpu1\"", "\"gpu0\", \"cpu\""),
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
    desk.write("s.toml", replaced(scenario_text, row[0], row[1]));
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
      {collective + "--gpus 3", "must be at most 2, the GPUs of topology \"desk\", got 3"},
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

TEST_CASE("damaged profiles are refused and no workload is written", "[bad input]") {
  const std::string cut_short = profile_text.substr(0, profile_text.size() - 60);
  const Rows rows{
      {cut_short, "p.json:6:", "the JSON text is cut"},
      {replaced(profile_text, "\"cat\":\"kernel\"", "\"cat\":\"kernal\""), "p.json",
       "the profile has no GPU events"},
      {replaced(profile_text, "\"dur\":20", "\"dur\":-20"), "p.json:4:70", "must not be negative"},
      {replaced(profile_text, "\"dur\":20", "\"dur\":NaN"), "p.json:4:70", "must be a finite time"},
      {replaced(profile_text, "\"dur\":20", "\"dur\":1e300"), "p.json:4:70",
       "must be a finite time"},
      {replaced(profile_text, "\"dur\":20", "\"dur\":\"long\""), "p.json:4:71", "got long"},
      {replaced(profile_text, "traceEvents", "traceEventz"), "p.json:1:1", "no \"traceEvents\""},
      {"[1, 2]", "p.json:1:", ""},
      {"profile", "p.json:1:1", ""},
  };
  for (const auto& row : rows) {
    INFO(row[0]);
    const Desk desk;
    desk.write("p.json", row[0]);
    check_refused(desk, "workload import p.json -o w.json", row[1], row[2]);
  }
}

TEST_CASE("a gzip file that is cut is refused wherever it is read", "[bad input]") {
  const Desk desk;
  desk.write("p.json", profile_text);
  const std::string pack = "gzip p.json && head -c 150 p.json.gz >cut.json.gz && rm p.json.gz";
  REQUIRE(std::system(("cd '" + desk.path().string() + "' && " + pack).c_str()) == 0);
  check_refused(desk, "workload import cut.json.gz -o w.json", "cut.json.gz",
                "the gzip member is cut or corrupt");
  check_refused(desk, "workload check cut.json.gz", "cut.json.gz",
                "the gzip member is cut or corrupt");
}

TEST_CASE("profiles that contradict each other are refused", "[bad input]") {
  const Desk desk;
  desk.write("a.json", profile_text);
  desk.write("b.json", replaced(replaced(profile_text, "\"rank\":0", "\"rank\":1"), "nelems\":10",
                                "nelems\":11"));
  check_refused(desk, "workload import a.json b.json -o w.json", "b.json",
                "ranks disagree on collective 0 of group \"0\": rank 0 has all_reduce of 40 bytes, "
                "rank 1 has all_reduce of 44 bytes");
  check_refused(desk, "workload import a.json a.json -o w.json", "a.json",
                "a second profile of rank 0");
}

TEST_CASE("wrong workload files are refused at their place by every reader", "[bad input]") {
  const Desk desk;
  REQUIRE(desk.run("workload import p.json -o w.json").code == 2);
  desk.write("p.json", profile_text);
  REQUIRE(desk.run("workload import p.json -o w.json").code == 0);
  const std::string valid = desk.content().at("w.json");
  desk.write("w.json", replaced(valid, "\"ranks\": [0, 1]", "\"ranks\": [0, 2]"));
  desk.write("s.toml", replaced(scenario_text, "dlrm-v100x8", "w.json"));
  for (const char* call : {"workload check w.json", "workload show w.json", "run s.toml --out out",
                           "predict --topology node.toml --workload w.json"}) {
    check_refused(desk, call, "w.json:9:1", "distinct ranks below world_size 2, got [0, 2]");
  }
}

TEST_CASE("wrong XML and tables are refused at their place", "[bad input]") {
  const Desk desk;
  desk.write("cut.xml", "<system version=\"1\">\n  <cpu numaid=\"0\"");
  desk.write("loop.xml", "<system version=\"1\">\n<cpu>\n</system>\n</cpu>\n");
  desk.write("text.txt", "no topology at all\n");
  check_refused(desk, "topology import cut.xml -o x.toml", "cut.xml:2:17", "is it cut off?");
  check_refused(desk, "collective --topology node.toml --msccl cut.xml", "cut.xml:2:17",
                "is it cut off?");
  check_refused(desk, "topology import loop.xml -o x.toml", "loop.xml:3:", "is it cut off?");
  check_refused(desk, "topology import text.txt -o x.toml", "text.txt", "none of the formats");
  const std::string header = "topology,gpus,bytes,time_us\n";
  const Rows tables{
      {"topology,gpus,bytes\ndgx-2,2,8\n", ":1:1", "missing column 'time_us'"},
      {"topology,gpus,bytes,bytes,time_us\n", ":1:21", "column 'bytes' appears twice"},
      {header, "", "no rows"},
      {header + "dgx-2,2,8\n", ":2:1", "has 3 cells, expected 4"},
      {header + "dgx-9,2,8,5\n", ":2:1", "\"dgx-9\" is neither"},
      {header + "dgx-2,two,8,5\n", ":2:7", "\"two\""},
      {header + "dgx-2,17,8,5\n", ":2:7", "got 17"},
      {header + "dgx-2,2,0,5\n", ":2:9", "more than 0, got 0"},
      {header + "dgx-2,2,1e300,5\n", ":2:9", "1e+300"},
      {header + "dgx-2,2,8,nan\n", ":2:11", "got \"nan\""},
      {header + "dgx-2,2,8,-5\n", ":2:11", "got -5"},
  };
  for (const auto& row : tables) {
    INFO(row[0]);
    desk.write("t.csv", row[0]);
    check_refused(desk, "validate nccl --against t.csv", "t.csv" + row[1], row[2]);
  }
}

TEST_CASE("what exists is not overwritten", "[bad input]") {
  const Desk desk;
  desk.write("out/thesis.tex", "precious");
  desk.write("w.json", "precious");
  desk.write("x.toml", "precious");
  desk.write("x.svg", "precious");
  desk.write("p.json", profile_text);
  desk.write("m.xml", "<system version=\"1\"/>");
  check_refused(desk, "run s.toml --out out", "out", "exists already");
  check_refused(desk, "run s.toml --out out --force", "out", "is no results folder");
  check_refused(desk, "run s.toml --out w.json --force", "w.json", "is a file");
  check_refused(desk, "workload import p.json -o w.json", "w.json", "the file exists");
  check_refused(desk, "topology import m.xml -o x.toml", "x.toml", "the file exists");
  check_refused(desk, "topology plot node.toml -o x.svg", "x.svg", "the file exists");
}

// A file that may not grow stands for the disk: every write beyond fails, as on a full one.
TEST_CASE("a disk that takes nothing is exit 1 and leaves nothing", "[bad input]") {
  const Desk desk;
  desk.write("p.json", profile_text);
  const auto before = desk.content();
  for (const char* call : {"run s.toml --out out", "workload import p.json -o w.json",
                           "topology plot node.toml -o x.svg"}) {
    INFO(call);
    const Ran ran = desk.run(call, "trap '' XFSZ; ulimit -f 1;");
    CHECK(ran.code == 1);
    CHECK(ran.out.empty());
    CHECK_THAT(ran.err, Catch::Matches("trainyard: error: [^\n]+\n"));
    CHECK(desk.content() == before);
  }
}

TEST_CASE("a full file system is exit 1 and leaves the old results", "[bad input]") {
  const Desk desk;
  // A mount of its own for one command; where that is not permitted the case above has to do.
  const std::string mount =
      "mkdir disk && unshare -rm sh -c \"mount -t tmpfs -o size=64k none disk";
  if (desk.run("", mount + "\" && rmdir disk; exit $?;").code != 0) {
    WARN("skipped: no mount permitted");
    return;
  }
  desk.write("big.toml", replaced(scenario_text, "steps = 10", "steps = 10\ncount = 2000"));
  const std::string program = std::string{"'"} + TRAINYARD_PROGRAM + "'";
  const Ran ran = desk.run(
      "", mount + " && " + program +
              " run s.toml --out disk/out >/dev/null 2>&1 && cp -r disk/out old; " + program +
              " run big.toml --force --out disk/out; echo code \\$?; ls -A disk; " +
              "diff -r old disk/out && echo same\"; exit 0;");
  CHECK_THAT(ran.err, Catch::Matches("trainyard: error: [^\n]*No space left on device\n"));
  CHECK(ran.out == "code 1\nout\nsame\n");
}
