#include "simulation/support.hpp"

#include <numeric>

namespace trainyard::test {

using workload::Op;
using workload::OpKind;

std::uint64_t Random::next() {
  state_ += 0x9E3779B97F4A7C15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

StepBuilder::StepBuilder() {
  workload_.name = "test";
  auto& timeline = workload_.timelines.emplace_back();
  timeline.streams = {{"gpu:0", false}, {"gpu:1", false}, {"host:0", true}};
}

int StepBuilder::add(Op op) {
  auto& ops = workload_.timelines.front().ops;
  ops.push_back(std::move(op));
  return static_cast<int>(ops.size()) - 1;
}

StepBuilder& StepBuilder::compute(std::int64_t ns) {
  Op op;
  op.duration = units::Nanoseconds{ns};
  if (join_ >= 0) {
    op.after.push_back({join_, {}});
    join_ = -1;
  }
  last_compute_ = add(op);
  return *this;
}

StepBuilder& StepBuilder::collective(double bytes, std::int64_t recorded) {
  Op op;
  op.kind = OpKind::collective;
  op.collective = static_cast<int>(workload_.collectives.size());
  op.recorded = units::Nanoseconds{recorded};
  workload_.collectives.push_back(
      {workload::CollectiveOp::all_reduce, units::Bytes{bytes}, 0, op.collective, -1});
  last_compute_ = add(op);
  return *this;
}

StepBuilder& StepBuilder::collective_aside(double bytes, std::int64_t recorded) {
  Op op;
  op.kind = OpKind::collective;
  op.stream = 1;
  op.collective = static_cast<int>(workload_.collectives.size());
  op.recorded = units::Nanoseconds{recorded};
  if (last_compute_ >= 0) {
    op.after.push_back({last_compute_, {}});
  }
  workload_.collectives.push_back(
      {workload::CollectiveOp::all_reduce, units::Bytes{bytes}, 0, op.collective, -1});
  last_aside_ = add(op);
  return *this;
}

StepBuilder& StepBuilder::join() {
  join_ = last_aside_;
  return *this;
}

StepBuilder& StepBuilder::launched_compute(std::int64_t host, std::int64_t kernel) {
  Op launch;
  launch.kind = OpKind::host;
  launch.stream = 2;
  launch.duration = units::Nanoseconds{host};
  const int launched = add(launch);
  Op op;
  op.duration = units::Nanoseconds{kernel};
  op.after.push_back({launched, {}});
  last_compute_ = add(op);
  return *this;
}

workload::Workload StepBuilder::one_rank(int ranks) const {
  workload::Workload result = workload_;
  result.world_size = ranks;
  result.samples_per_step = static_cast<double>(ranks);
  auto& group = result.groups.emplace_back();
  group.name = "world";
  group.ranks.resize(static_cast<std::size_t>(ranks));
  std::iota(group.ranks.begin(), group.ranks.end(), 0);
  return result;
}

workload::Workload StepBuilder::two_ranks(std::int64_t first, std::int64_t second, double bytes) {
  workload::Workload result = StepBuilder{}.compute(first).collective(bytes).one_rank(2);
  auto other = result.timelines.front();
  other.rank = 1;
  other.ops.front().duration = units::Nanoseconds{second};
  result.timelines.push_back(std::move(other));
  return result;
}

workload::Workload random_step(Random& random, int streams, int ops) {
  workload::Workload result;
  result.groups.push_back({"world", {0}});
  auto& timeline = result.timelines.emplace_back();
  for (int i = 0; i < streams; ++i) {
    timeline.streams.push_back({"gpu:" + std::to_string(i), false});
  }
  for (int i = 0; i < ops; ++i) {
    Op op;
    op.stream = static_cast<int>(random.below(static_cast<std::uint64_t>(streams)));
    op.gap = units::Nanoseconds{static_cast<std::int64_t>(random.below(20))};
    op.duration = units::Nanoseconds{static_cast<std::int64_t>(random.below(200))};
    for (std::uint64_t d = random.below(3); d > 0 && i > 0; --d) {
      op.after.push_back({static_cast<int>(random.below(static_cast<std::uint64_t>(i))),
                          units::Nanoseconds{static_cast<std::int64_t>(random.below(30))}});
    }
    if (random.below(6) == 0) {
      op.kind = OpKind::collective;
      op.collective = static_cast<int>(result.collectives.size());
      op.duration = {};
      result.collectives.push_back(
          {workload::CollectiveOp::all_reduce, units::Bytes{8.0}, 0, op.collective, -1});
    }
    timeline.ops.push_back(op);
  }
  return result;
}

topology::Cluster nic_cluster(int nodes, int gpus) {
  std::string node = "name = \"test-node\"\n";
  node +=
      "[[gpu]]\nname = \"gpu{0.." + std::to_string(gpus - 1) + "}\"\nmodel = \"v100-sxm2-32gb\"\n";
  node +=
      "[[pcie_switch]]\nname = \"plx0\"\n[[cpu]]\nname = \"cpu0\"\n[[nic]]\nname = \"nic0\"\nlink "
      "= \"ib-edr\"\n";
  node += "[[link]]\nbetween = [\"gpu{0.." + std::to_string(gpus - 1) +
          "}\", \"plx0\"]\nkind = \"pcie3-x16\"\n";
  node += "[[link]]\nbetween = [\"nic0\", \"plx0\"]\nkind = \"pcie3-x16\"\n";
  node += "[[link]]\nbetween = [\"plx0\", \"cpu0\"]\nkind = \"pcie3-x16\"\n";
  return topology::parse_cluster(input::Document::parse(node, "test-node.toml"),
                                 topology::Catalog::load(), {nodes, {}});
}

double nic_rate(const topology::Cluster& cluster) {
  return cluster.link(cluster.nics(0).front().to_fabric).bandwidth.si();
}

simulation::Scenario scenario_on(topology::Cluster cluster, const std::string& scheduler) {
  const auto document = input::Document::parse("[scheduler]\n" + scheduler, "test.toml");
  simulation::Scenario scenario{.scheduler = *document.root().section("scheduler")};
  scenario.name = "test";
  scenario.cluster = std::make_shared<topology::Cluster>(std::move(cluster));
  return scenario;
}

int add_job(simulation::Scenario& scenario, const workload::Workload& step, int gpus,
            std::int64_t submit_ns, std::int64_t steps) {
  simulation::Job job;
  job.id = "job" + std::to_string(scenario.jobs.size());
  job.workload = static_cast<int>(scenario.workloads.size());
  job.gpus = gpus;
  job.submit = units::Nanoseconds{submit_ns};
  job.amount.steps = steps;
  scenario.workloads.push_back(step);
  scenario.workload_names.push_back(job.id);
  scenario.jobs.push_back(job);
  return static_cast<int>(scenario.jobs.size()) - 1;
}

}  // namespace trainyard::test
