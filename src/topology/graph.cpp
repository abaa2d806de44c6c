#include "topology/graph.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12, Boost's optional iterators
#endif

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <limits>

namespace trainyard::topology {
namespace {

struct Edge {
  double weight = 0.0;
  int id = 0;
};
using List =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Edge>;
using Vertex = boost::graph_traits<List>::vertex_descriptor;

/// The lightest edge between two neighbours, the first of equal ones.
int edge_between(const List& list, Vertex from, Vertex to) {
  int best = -1;
  double weight = std::numeric_limits<double>::infinity();
  for (const auto& edge : boost::make_iterator_range(boost::out_edges(from, list))) {
    if (boost::target(edge, list) == to && list[edge].weight < weight) {
      weight = list[edge].weight;
      best = list[edge].id;
    }
  }
  return best;
}

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;

/// An edge of a flow network: Boost wants each with its reverse.
struct Pipe {
  double capacity = 0.0;
  double left = 0.0;
  Traits::edge_descriptor reverse{};
};
using Network =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Pipe>;

void add_pipe(Network& network, Vertex from, Vertex to, double capacity) {
  const auto there = boost::add_edge(from, to, Pipe{capacity}, network).first;
  const auto back = boost::add_edge(to, from, Pipe{}, network).first;
  network[there].reverse = back;
  network[back].reverse = there;
}

}  // namespace

struct Graph::Implementation {
  List list;
};

Graph::Graph(int vertices)
    : implementation_{std::make_unique<Implementation>(
          Implementation{List(static_cast<std::size_t>(vertices))})} {}
Graph::~Graph() = default;
Graph::Graph(Graph&& other) noexcept = default;
Graph& Graph::operator=(Graph&& other) noexcept = default;

void Graph::add_edge(int from, int to, double weight, int id) {
  boost::add_edge(static_cast<Vertex>(from), static_cast<Vertex>(to), Edge{weight, id},
                  implementation_->list);
}

std::vector<std::vector<int>> Graph::paths_from(int from) const {
  const List& list = implementation_->list;
  std::vector<Vertex> previous(boost::num_vertices(list));
  std::vector<double> distance(boost::num_vertices(list));
  boost::dijkstra_shortest_paths(list, static_cast<Vertex>(from),
                                 boost::weight_map(boost::get(&Edge::weight, list))
                                     .predecessor_map(boost::make_iterator_property_map(
                                         previous.begin(), boost::get(boost::vertex_index, list)))
                                     .distance_map(boost::make_iterator_property_map(
                                         distance.begin(), boost::get(boost::vertex_index, list))));
  std::vector<std::vector<int>> paths(previous.size());
  for (Vertex to = 0; to < previous.size(); ++to) {
    for (Vertex at = to; previous[at] != at; at = previous[at]) {
      paths[to].push_back(edge_between(list, previous[at], at));
    }
    std::reverse(paths[to].begin(), paths[to].end());
  }
  return paths;
}

double Graph::max_flow(const std::vector<int>& sources, const std::vector<int>& sinks) const {
  const List& list = implementation_->list;
  const Vertex source = boost::num_vertices(list);
  const Vertex sink = source + 1;
  Network network(boost::num_vertices(list) + 2);
  double unbounded = 1.0;
  for (const auto& edge : boost::make_iterator_range(boost::edges(list))) {
    add_pipe(network, boost::source(edge, list), boost::target(edge, list), list[edge].weight);
    unbounded += list[edge].weight;
  }
  for (const int from : sources) {
    add_pipe(network, source, static_cast<Vertex>(from), unbounded);
  }
  for (const int to : sinks) {
    add_pipe(network, static_cast<Vertex>(to), sink, unbounded);
  }
  return boost::push_relabel_max_flow(network, source, sink,
                                      boost::capacity_map(boost::get(&Pipe::capacity, network))
                                          .residual_capacity_map(boost::get(&Pipe::left, network))
                                          .reverse_edge_map(boost::get(&Pipe::reverse, network)));
}

}  // namespace trainyard::topology
