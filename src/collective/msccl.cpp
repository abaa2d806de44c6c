#include "collective/msccl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <tuple>

#include "collective/shape.hpp"
#include "input/files.hpp"
#include "topology/importers/xml.hpp"

namespace trainyard::collective {
namespace {

using topology::importers::Element;
using workload::CollectiveOp;

constexpr std::int64_t kMostRanks = 65536;
constexpr std::int64_t kMostChunks = 1000000;

CollectiveOp op_of(const Element& root) {
  static const std::array<std::pair<std::string_view, CollectiveOp>, 8> names{
      {{"allreduce", CollectiveOp::all_reduce},
       {"allgather", CollectiveOp::all_gather},
       {"reduce_scatter", CollectiveOp::reduce_scatter},
       {"alltoall", CollectiveOp::all_to_all},
       {"broadcast", CollectiveOp::broadcast},
       {"reduce", CollectiveOp::reduce},
       {"gather", CollectiveOp::gather},
       {"scatter", CollectiveOp::scatter}}};
  for (const auto& [name, op] : names) {
    if (root.text("coll") == name) {
      return op;
    }
  }
  root.fail(
      fmt::format("coll must be allreduce, allgather, reduce_scatter, alltoall, broadcast, "
                  "reduce, gather or scatter, got \"{}\"",
                  root.text("coll")));
}

std::size_t protocol_of(const Element& root) {
  static constexpr std::array<std::string_view, 3> kNames{"LL", "LL128", "Simple"};
  const std::string name = root.text("proto").empty() ? "Simple" : root.text("proto");
  const auto* const found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) {
    root.fail(fmt::format("proto must be LL, LL128 or Simple, got \"{}\"", name));
  }
  return static_cast<std::size_t>(found - kNames.begin());
}

std::int64_t required(const Element& element, std::string_view attribute, std::int64_t low,
                      std::int64_t high) {
  const auto value = element.integer(attribute, low, high);
  if (!value) {
    element.fail(fmt::format("{} is missing: an integer from {} to {}", attribute, low, high));
  }
  return *value;
}

/// What a step's type does.
struct StepKind {
  std::string_view name;
  bool receives;
  bool sends;
};

const StepKind& kind_of(const Element& step) {
  static constexpr std::array<StepKind, 9> kKinds{{{"s", false, true},
                                                   {"r", true, false},
                                                   {"rcs", true, true},
                                                   {"rrc", true, false},
                                                   {"rrs", true, true},
                                                   {"rrcs", true, true},
                                                   {"cpy", false, false},
                                                   {"re", false, false},
                                                   {"nop", false, false}}};
  for (const StepKind& kind : kKinds) {
    if (step.text("type") == kind.name) {
      return kind;
    }
  }
  step.fail(fmt::format("type must be s, r, rcs, rrc, rrs, rrcs, cpy, re or nop, got \"{}\"",
                        step.text("type")));
}

/// One <step>, with what it waits for inside its GPU.
struct Node {
  const Element* element = nullptr;
  std::vector<int> after{};
  bool sent = false;  ///< it sends a message
};

class Reader {
 public:
  explicit Reader(const Element& root) : root_{root} {}

  MscclAlgorithm read() {
    if (root_.name != "algo") {
      root_.fail("an MSCCL algorithm begins with <algo>");
    }
    result_.name = root_.text("name").empty() ? "msccl" : root_.text("name");
    result_.op = op_of(root_);
    result_.protocol = protocol_of(root_);
    result_.ranks = static_cast<std::size_t>(required(root_, "ngpus", 1, kMostRanks));
    result_.chunks = static_cast<int>(required(root_, "nchunksperloop", 1, kMostChunks));
    for (const Element& gpu : root_.children) {
      if (gpu.name == "gpu") {
        add_gpu(gpu);
      }
    }
    join();
    find_order();
    return std::move(result_);
  }

 private:
  using Channel = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  ///< from, to, chan

  void add_gpu(const Element& gpu) {
    const auto last = static_cast<std::int64_t>(result_.ranks) - 1;
    const std::int64_t id = required(gpu, "id", 0, last);
    std::map<std::int64_t, std::vector<int>> steps_of_block;
    std::vector<std::tuple<int, std::int64_t, std::int64_t, const Element*>> waits;
    for (const Element& block : gpu.children) {
      if (block.name != "tb") {
        continue;
      }
      const std::int64_t block_id = required(block, "id", 0, kMostChunks);
      const std::int64_t to = block.integer("send", -1, last).value_or(-1);
      const std::int64_t from = block.integer("recv", -1, last).value_or(-1);
      const std::int64_t channel = block.integer("chan", 0, 1000).value_or(0);
      auto& steps = steps_of_block[block_id];
      for (const Element& step : block.children) {
        const int index = add_step(step, id, from, to, channel);
        if (!steps.empty()) {
          nodes_[static_cast<std::size_t>(index)].after.push_back(steps.back());
        }
        steps.push_back(index);
        const std::int64_t wanted = step.integer("depid", -1, kMostChunks).value_or(-1);
        if (wanted >= 0) {
          waits.emplace_back(index, wanted, required(step, "deps", 0, kMostChunks), &step);
        }
      }
    }
    for (const auto& [index, block, position, element] : waits) {
      const auto steps = steps_of_block.find(block);
      if (steps == steps_of_block.end() ||
          position >= static_cast<std::int64_t>(steps->second.size())) {
        element->fail(
            fmt::format("waits for step {} of block {}, which is not there", position, block));
      }
      nodes_[static_cast<std::size_t>(index)].after.push_back(
          steps->second[static_cast<std::size_t>(position)]);
    }
  }

  int add_step(const Element& step, std::int64_t gpu, std::int64_t from, std::int64_t to,
               std::int64_t channel) {
    const StepKind& kind = kind_of(step);
    const int index = static_cast<int>(nodes_.size());
    Node node{&step, {}, kind.sends};
    const int count = static_cast<int>(step.integer("cnt", 1, kMostChunks).value_or(1));
    if (kind.receives) {
      check_peer(step, from, gpu, "recv");
      receives_[{from, gpu, channel}].push_back(index);
    }
    if (kind.sends) {
      check_peer(step, to, gpu, "send");
      sends_[{gpu, to, channel}].push_back(index);
      result_.messages.push_back(
          {static_cast<std::size_t>(gpu), static_cast<std::size_t>(to), count});
    }
    nodes_.push_back(std::move(node));
    return index;
  }

  static void check_peer(const Element& step, std::int64_t peer, std::int64_t gpu,
                         const char* attribute) {
    if (peer < 0 || peer == gpu) {
      step.fail(fmt::format("needs another GPU in the {} of its block, got {}", attribute, peer));
    }
  }

  /// The k-th receive on a channel takes what the k-th send on it sent.
  void join() {
    for (const auto& [channel, receives] : receives_) {
      const auto& sends = sends_[channel];
      for (std::size_t k = 0; k < receives.size(); ++k) {
        const auto at = static_cast<std::size_t>(receives[k]);
        if (k >= sends.size()) {
          nodes_[at].element->fail("receives what GPU " + std::to_string(std::get<0>(channel)) +
                                   " does not send");
        }
        nodes_[at].after.push_back(sends[k]);
      }
    }
    for (const auto& [channel, sends] : sends_) {
      if (sends.size() > receives_[channel].size()) {
        nodes_[static_cast<std::size_t>(sends[receives_[channel].size()])].element->fail(
            "sends what GPU " + std::to_string(std::get<1>(channel)) + " does not receive");
      }
    }
  }

  /// Runs the steps in an order in which they can; the depth in messages.
  void find_order() {
    std::vector<int> waiting(nodes_.size(), 0);
    std::vector<std::vector<int>> next(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      waiting[i] = static_cast<int>(nodes_[i].after.size());
      for (const int before : nodes_[i].after) {
        next[static_cast<std::size_t>(before)].push_back(static_cast<int>(i));
      }
    }
    std::deque<std::size_t> ready;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (waiting[i] == 0) {
        ready.push_back(i);
      }
    }
    std::vector<int> depth(nodes_.size(), 0);
    for (; !ready.empty(); ready.pop_front()) {
      const std::size_t at = ready.front();
      depth[at] = depth_of(nodes_[at], depth);
      result_.depth = std::max(result_.depth, depth[at]);
      for (const int after : next[at]) {
        if (--waiting[static_cast<std::size_t>(after)] == 0) {
          ready.push_back(static_cast<std::size_t>(after));
        }
      }
    }
    const auto stuck = std::find_if(waiting.begin(), waiting.end(), [](int w) { return w > 0; });
    if (stuck != waiting.end()) {
      nodes_[static_cast<std::size_t>(stuck - waiting.begin())].element->fail(
          "waits for itself: steps depend on each other in a loop");
    }
  }

  static int depth_of(const Node& node, const std::vector<int>& depth) {
    int deepest = 0;
    for (const int before : node.after) {
      deepest = std::max(deepest, depth[static_cast<std::size_t>(before)]);
    }
    return deepest + (node.sent ? 1 : 0);
  }

  const Element& root_;
  MscclAlgorithm result_{};
  std::vector<Node> nodes_{};
  std::map<Channel, std::vector<int>> sends_{};
  std::map<Channel, std::vector<int>> receives_{};
};

}  // namespace

MscclAlgorithm parse_msccl(std::string_view text, const std::string& name) {
  const Element root = topology::importers::parse_xml(text, name);
  return Reader{root}.read();
}

MscclAlgorithm read_msccl(const std::string& path) {
  return parse_msccl(input::read_file(path), path);
}

Plan msccl_plan(const topology::Cluster& cluster, const MscclAlgorithm& algorithm,
                units::Bytes bytes, const std::vector<topology::GpuId>& group,
                const Constants& constants, const Software& software, const input::Place& place) {
  if (group.size() != algorithm.ranks) {
    throw input::InputError{place, fmt::format("algorithm \"{}\" is for {} GPUs, the group has {}",
                                               algorithm.name, algorithm.ranks, group.size())};
  }
  Shape shape;
  const double chunk = 1.0 / algorithm.chunks;
  bool between = false;
  for (const Messages& message : algorithm.messages) {
    between = between || cluster.node_of(group[message.from]) != cluster.node_of(group[message.to]);
  }
  for (auto& load : message_loads(cluster, group, algorithm.messages)) {
    shape.flows.push_back({std::move(load.links), units::Bytes{load.messages * chunk}, {}});
  }
  shape.parts = 0.0;
  shape.inside_hops = algorithm.depth;
  if (between) {
    // Which of the messages on the longest way leave a node is not known: all may.
    const auto& nics = cluster.nics(cluster.node_of(group.front()));
    const auto* cable = nics.empty() ? nullptr : cluster.bundled(nics.front().to_fabric).kind;
    shape.network_hop = constants.transport(cable == nullptr ? "" : cable->transport).hop;
    shape.network_hops = algorithm.depth;
    shape.inside_hops = 0.0;
  }
  set_even_rates(cluster, 1.0, shape);
  Plan plan;
  plan.algorithm = algorithm.name;
  plan.protocol = constants.protocols[algorithm.protocol].name;
  plan.latency =
      constants.start_of(software, cluster.gpu_kind(group.front()).architecture, group.size()) +
      latency(constants, shape, software, algorithm.protocol);
  const double share = speed(constants, shape, algorithm.protocol, bytes.si());
  for (std::size_t f = 0; f < shape.flows.size(); ++f) {
    Flow flow = shape.flows[f];
    flow.size = flow.size * bytes.si();
    flow.cap = shape.rates[f] * share;
    plan.flows.push_back(std::move(flow));
  }
  return plan;
}

}  // namespace trainyard::collective
