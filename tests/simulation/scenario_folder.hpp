#pragma once

#include <string>

#include "simulation/scenario.hpp"
#include "simulation/support.hpp"
#include "support/temporary_folder.hpp"
#include "workload/file.hpp"

namespace trainyard::test {

/// A folder with what a scenario can name: `node` (a topology of four V100 of 32 GB and one NIC),
/// and the workloads `single` (1 rank), `pair` (2 ranks, 8 samples a step, all in one group),
/// `halves` (4 ranks, of which two form a group of their own) and `large` (1 rank, 41.2 GB a GPU).
class ScenarioFolder {
 public:
  ScenarioFolder() {
    files_.write("node.toml", kNode);
    write("single", StepBuilder{}.compute(1000).one_rank(1));
    auto pair = StepBuilder{}.compute(1000).collective(8).one_rank(2);
    pair.samples_per_step = 8.0;
    pair.memory_per_gpu = units::Bytes{4e9};
    write("pair", pair);
    auto halves = StepBuilder{}.compute(1000).collective(8).one_rank(4);
    halves.samples_per_step.reset();
    halves.groups.push_back({"half", {0, 1}});
    write("halves", halves);
    auto large = StepBuilder{}.compute(1000).one_rank(1);
    large.memory_per_gpu = units::Bytes{41.2e9};
    write("large", large);
  }

  [[nodiscard]] const TemporaryFolder& files() const { return files_; }

  void write(const std::string& name, const workload::Workload& workload) const {
    files_.write(name + ".json", workload::to_json(workload));
  }

  /// The text as the scenario file s.toml of this folder.
  [[nodiscard]] simulation::Scenario parse(const std::string& text) const {
    return simulation::parse_scenario(input::Document::parse(text, "s.toml"),
                                      files_.path().string());
  }

  static constexpr const char* kNode = R"(name = "test-node"
[[gpu]]
name = "gpu{0..3}"
model = "v100-sxm2-32gb"
[[pcie_switch]]
name = "plx0"
[[cpu]]
name = "cpu0"
[[nic]]
name = "nic0"
link = "ib-edr"
[[link]]
between = ["gpu{0..3}", "plx0"]
kind = "pcie3-x16"
[[link]]
between = ["nic0", "plx0"]
kind = "pcie3-x16"
[[link]]
between = ["plx0", "cpu0"]
kind = "pcie3-x16"
)";

 private:
  TemporaryFolder files_{};
};

}  // namespace trainyard::test
