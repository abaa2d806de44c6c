#include "simulation/folding.hpp"

#include <algorithm>
#include <map>

namespace trainyard::simulation {
namespace {

using Signature = std::vector<int>;

/// Numbers signatures in order of first appearance; returns how many there are.
int number(const std::vector<Signature>& signatures, std::vector<int>& colours) {
  std::map<Signature, int> known;
  for (std::size_t i = 0; i < signatures.size(); ++i) {
    colours[i] = known.emplace(signatures[i], static_cast<int>(known.size())).first->second;
  }
  return static_cast<int>(known.size());
}

/// Flows and links with positions instead of ids, both directions of the incidence.
struct Graph {
  std::vector<std::vector<int>> links_of{};  ///< by flow, sorted, repeats kept
  std::vector<std::vector<int>> flows_of{};  ///< by link
};

Graph incidence(const std::vector<FoldableFlow>& flows,
                const std::vector<topology::LinkId>& links) {
  Graph graph;
  graph.links_of.resize(flows.size());
  graph.flows_of.resize(links.size());
  for (std::size_t f = 0; f < flows.size(); ++f) {
    for (const topology::LinkId id : flows[f].links) {
      const auto position = std::lower_bound(links.begin(), links.end(), id) - links.begin();
      graph.links_of[f].push_back(static_cast<int>(position));
      graph.flows_of[static_cast<std::size_t>(position)].push_back(static_cast<int>(f));
    }
  }
  return graph;
}

/// Own colour, then the sorted colours of the neighbours.
std::vector<Signature> signatures(const std::vector<int>& own,
                                  const std::vector<std::vector<int>>& neighbours,
                                  const std::vector<int>& other) {
  std::vector<Signature> result(own.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    result[i].push_back(own[i]);
    for (const int neighbour : neighbours[i]) {
      result[i].push_back(other[static_cast<std::size_t>(neighbour)]);
    }
    std::sort(result[i].begin() + 1, result[i].end());
  }
  return result;
}

std::vector<int> first_colours(const std::vector<double>& values) {
  std::map<double, int> known;
  std::vector<int> colours;
  colours.reserve(values.size());
  for (const double value : values) {
    colours.push_back(known.emplace(value, static_cast<int>(known.size())).first->second);
  }
  return colours;
}

/// The first link of each colour stands for all of them.
std::vector<topology::LinkId> representatives(const std::vector<topology::LinkId>& links,
                                              const std::vector<int>& colours, int count) {
  std::vector<topology::LinkId> result(static_cast<std::size_t>(count), -1);
  for (std::size_t i = links.size(); i-- > 0;) {
    result[static_cast<std::size_t>(colours[i])] = links[i];
  }
  return result;
}

}  // namespace

Folding fold(const std::vector<FoldableFlow>& flows, const std::vector<topology::LinkId>& links,
             const std::vector<double>& capacity) {
  const Graph graph = incidence(flows, links);
  std::vector<int> flow_colour;
  flow_colour.reserve(flows.size());
  for (const FoldableFlow& flow : flows) {
    flow_colour.push_back(flow.kind);
  }
  std::vector<int> link_colour = first_colours(capacity);
  int flow_count = 0;
  int link_count = 0;
  for (int before = -1; flow_count + link_count != before;) {
    before = flow_count + link_count;
    link_count = number(signatures(link_colour, graph.flows_of, flow_colour), link_colour);
    flow_count = number(signatures(flow_colour, graph.links_of, link_colour), flow_colour);
  }
  Folding result;
  result.class_of = flow_colour;
  result.classes.resize(static_cast<std::size_t>(flow_count));
  for (std::size_t f = flows.size(); f-- > 0;) {
    result.classes[static_cast<std::size_t>(flow_colour[f])].representative = f;
  }
  const auto stand_in = representatives(links, link_colour, link_count);
  for (const topology::LinkId id : stand_in) {
    const auto position =
        static_cast<std::size_t>(std::lower_bound(links.begin(), links.end(), id) - links.begin());
    for (const int flow : graph.flows_of[position]) {
      const auto cell = static_cast<std::size_t>(flow_colour[static_cast<std::size_t>(flow)]);
      result.classes[cell].links.push_back(id);
    }
  }
  return result;
}

}  // namespace trainyard::simulation
