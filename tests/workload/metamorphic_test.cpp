// Changes whose effect is known without knowing the result, on real profiles, against the
// independent critical_path.py.
#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "graph_support.hpp"
#include "support/shared.hpp"
#include "support/temporary_folder.hpp"
#include "workload/file.hpp"
#include "workload/import.hpp"

using namespace trainyard;
using units::Nanoseconds;
using workload::OpKind;
using workload::Timeline;
using workload::Workload;

namespace {

namespace fs = std::filesystem;

const std::string kScript =
    (fs::path{TRAINYARD_SOURCE_DIR} / "tests" / "workload" / "critical_path.py").string();

std::string output_of(const std::string& command) {
  struct Close {
    void operator()(std::FILE* pipe) const { ::pclose(pipe); }
  };
  const std::unique_ptr<std::FILE, Close> pipe{::popen(command.c_str(), "r")};
  REQUIRE(pipe);
  std::string text;
  std::array<char, 256> buffer{};
  while (std::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe.get()) != nullptr) {
    text += buffer.data();
  }
  return text;
}

std::string script(const std::string& arguments) {
  return output_of(fmt::format("\"{}\" \"{}\" {}", TRAINYARD_PYTHON, kScript, arguments));
}

Nanoseconds span(const Timeline& timeline) {
  const auto times = workload::recorded_times(timeline);
  Nanoseconds first = units::kForever;
  Nanoseconds last{};
  for (std::size_t i = 0; i < timeline.ops.size(); ++i) {
    if (!timeline.streams[static_cast<std::size_t>(timeline.ops[i].stream)].host) {
      first = std::min(first, times.start[i]);
      last = std::max(last, times.end[i]);
    }
  }
  return last - first;
}

Timeline with_kernels_times(Timeline timeline, std::int64_t factor) {
  for (auto& op : timeline.ops) {
    if (op.kind == OpKind::compute || op.kind == OpKind::collective) {
      op.duration = op.duration * factor;
      op.recorded = op.recorded * factor;
    }
  }
  return timeline;
}

/// The ops of one stream follow their predecessors at once.
Timeline without_gaps(Timeline timeline, const std::string& stream) {
  for (auto& op : timeline.ops) {
    if (timeline.streams[static_cast<std::size_t>(op.stream)].name == stream) {
      op.gap = {};
      for (auto& dependency : op.after) {
        dependency.lag = {};
      }
    }
  }
  return timeline;
}

std::optional<fs::path> profile(const std::string& name) {
  if (std::string_view{TRAINYARD_PYTHON}.empty()) {
    WARN("skipped: no python3");
    return std::nullopt;
  }
  const auto shared = test::shared_folder();
  if (!shared) {
    return std::nullopt;
  }
  return *shared / "profiles" / "kineto" / (name + ".json.gz");
}

const std::vector<std::string>& names() {
  static const std::vector<std::string> kNames{
      "dlrm_v100x8_rank0",     "dlrm_v100x8_rank3",
      "alexnet_a100_cudasync", "event_sync_a100",
      "bertsmall_h100",        "bertsmall_mi300x",
      "minitoy_mi250",         "qwen05b_h100",
      "vllm_piecewise_graph",  "sglang_qwen3_8b_decode_graph",
      "triton_a100",           "resnet_ddp_a100x2_rank0_ncclmeta"};
  return kNames;
}

}  // namespace

TEST_CASE("spans agree with the independent script, kernels twice as long",
          "[metamorphic][shared]") {
  std::string all;
  std::string plain;
  std::string doubled;
  for (const std::string& name : names()) {
    const auto path = profile(name);
    if (!path) {
      return;
    }
    INFO(name);
    all += " \"" + path->string() + "\"";
    const auto workload = workload::import_kineto({path->string()}, "x");
    const Timeline& timeline = workload.timelines.front();
    const Timeline slow = with_kernels_times(timeline, 2);
    plain += std::to_string(span(timeline).count()) + "\n";
    doubled += std::to_string(span(slow).count()) + "\n";
    // Longer kernels never shorten a longest path, and no path has more than all of it twice.
    CHECK(span(slow) >= span(timeline));
    CHECK(span(slow) <= span(timeline) * 2);
  }
  CHECK(plain == script("span" + all));
  CHECK(doubled == script("span --kernel-factor 2" + all));
}

TEST_CASE("spans agree with the independent script, one stream without gaps",
          "[metamorphic][shared]") {
  for (const std::string& name : names()) {
    const auto path = profile(name);
    if (!path) {
      return;
    }
    const auto workload = workload::import_kineto({path->string()}, "x");
    const Timeline& timeline = workload.timelines.front();
    for (const auto& stream : timeline.streams) {
      if (stream.host) {
        continue;
      }
      INFO(name << " " << stream.name);
      CHECK(std::to_string(span(without_gaps(timeline, stream.name)).count()) + "\n" ==
            script(fmt::format("span --without-gaps {} \"{}\"", stream.name.substr(3),
                               path->string())));
    }
  }
}

TEST_CASE("shifted, shuffled and turned profiles give the same workload", "[metamorphic][shared]") {
  const test::TemporaryFolder folder;
  for (const char* name : {"dlrm_v100x8_rank1", "alexnet_a100_cudasync", "bertsmall_h100",
                           "sglang_qwen3_8b_decode_graph"}) {
    const auto path = profile(name);
    if (!path) {
      return;
    }
    INFO(name);
    const std::string base = to_json(workload::import_kineto({path->string()}, "x"));
    const auto* change =
        GENERATE("--shift 1000000", "--shift -7", "--shuffle 1", "--shuffle 2 --reverse-keys");
    INFO(change);
    const auto changed = (folder.path() / "changed.json").string();
    script(fmt::format("change \"{}\" \"{}\" {}", path->string(), changed, change));
    CHECK(to_json(workload::import_kineto({changed}, "x")) == base);
  }
}

TEST_CASE("renamed files and another order of them give the same workload",
          "[metamorphic][shared]") {
  const test::TemporaryFolder folder;
  std::vector<std::string> paths;
  std::vector<std::string> renamed;
  for (int rank = 0; rank < 8; ++rank) {
    const auto path = profile(fmt::format("dlrm_v100x8_rank{}", rank));
    if (!path) {
      return;
    }
    paths.push_back(path->string());
    // names that suggest wrong ranks
    const auto copy = folder.path() / fmt::format("worker{}.bin", 7 - rank);
    fs::copy_file(*path, copy);
    renamed.insert(renamed.begin(), copy.string());
  }
  CHECK(to_json(workload::import_kineto(paths, "x")) ==
        to_json(workload::import_kineto(renamed, "x")));
}
