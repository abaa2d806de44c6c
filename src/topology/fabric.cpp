#include "topology/fabric.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace trainyard::topology {
namespace {

constexpr std::uint8_t kUnreached = std::numeric_limits<std::uint8_t>::max();
constexpr std::uint8_t kFarthest = 250;

/// splitmix64's finaliser: spreads neighbouring inputs over all bits.
std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}

}  // namespace

int Fabric::add_switch(std::string name) {
  names_.push_back(std::move(name));
  ports_of_switch_.push_back(0);
  return static_cast<int>(names_.size()) - 1;
}

void Fabric::add_link(int a, int b, const LinkKind& kind, int count, int cost) {
  links_.push_back({a, b, kind, count, cost});
  costs_differ_ = costs_differ_ || cost != 1;
}

void Fabric::attach(int at_switch, const LinkKind& cable) {
  port_switch_.push_back(at_switch);
  port_rank_.push_back(ports_of_switch_[static_cast<std::size_t>(at_switch)]++);
  const auto known = std::find(cable_kinds_.begin(), cable_kinds_.end(), cable);
  port_cable_.push_back(static_cast<int>(known - cable_kinds_.begin()));
  if (known == cable_kinds_.end()) {
    cable_kinds_.push_back(cable);
  }
}

void Fabric::set_routing(Routing routing, std::uint64_t seed) {
  routing_ = routing;
  seed_ = seed;
}

const std::string& Fabric::switch_name(int index) const {
  return names_[static_cast<std::size_t>(index)];
}

int Fabric::switch_of(int port) const {
  return port_switch_[static_cast<std::size_t>(port)];
}

const LinkKind& Fabric::cable(int port) const {
  return cable_kinds_[static_cast<std::size_t>(port_cable_[static_cast<std::size_t>(port)])];
}

int Fabric::directed_links() const {
  return 2 * (ports() + static_cast<int>(links_.size()));
}

/// From a switch that has ports: breadth first where all costs are one, and where they are not a
/// switch is looked at again when a cheaper way to it turns up.
void Fabric::measure(std::size_t target) {
  std::vector<std::uint8_t> distance(names_.size(), kUnreached);
  distance[target] = 0;
  std::vector<std::size_t> open{target};
  for (std::size_t i = 0; i < open.size(); ++i) {
    for (const Neighbour& next : neighbours_[open[i]]) {
      auto& reached = distance[static_cast<std::size_t>(next.to)];
      const int cost = distance[open[i]] + next.cost;
      if (cost < reached && cost <= kFarthest) {
        reached = static_cast<std::uint8_t>(cost);
        open.push_back(static_cast<std::size_t>(next.to));
      }
    }
  }
  distance_.push_back(std::move(distance));
}

bool Fabric::finish() {
  neighbours_.resize(names_.size());
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const int id = 2 * static_cast<int>(i);
    neighbours_[static_cast<std::size_t>(links_[i].a)].push_back({links_[i].b, id, links_[i].cost});
    neighbours_[static_cast<std::size_t>(links_[i].b)].push_back(
        {links_[i].a, id + 1, links_[i].cost});
  }
  target_of_switch_.assign(names_.size(), -1);
  for (const int target : port_switch_) {
    int& row = target_of_switch_[static_cast<std::size_t>(target)];
    if (row < 0) {
      row = static_cast<int>(distance_.size());
      measure(static_cast<std::size_t>(target));
    }
  }
  return std::all_of(distance_.begin(), distance_.end(), [&](const auto& distance) {
    return std::all_of(port_switch_.begin(), port_switch_.end(), [&](int other) {
      return distance[static_cast<std::size_t>(other)] != kUnreached;
    });
  });
}

/// Static tables choose by destination alone, as InfiniBand's do: on the way up by the port's
/// number on its switch, higher by the number of its switch. The hosts of a leaf are thus dealt out
/// evenly over the ways to it. ECMP hashes the flow instead, and collides now and then.
/// @source Zahavi 2010, D-mod-k routing of fat trees
std::uint64_t Fabric::choice(int from, int to, int at, std::uint64_t salt) const {
  if (routing_ != Routing::ecmp) {
    const bool leaf = target_of_switch_[static_cast<std::size_t>(at)] >= 0;
    return leaf ? static_cast<std::uint64_t>(port_rank_[static_cast<std::size_t>(to)])
                : static_cast<std::uint64_t>(row_of(switch_of(to)));
  }
  std::uint64_t hash = mix(seed_ + 0x9E3779B97F4A7C15U * static_cast<std::uint64_t>(from + 1));
  hash = mix(hash ^ static_cast<std::uint64_t>(to));
  return mix(hash ^ (salt * 0x9E3779B97F4A7C15U) ^ static_cast<std::uint64_t>(at));
}

const Fabric::Neighbour& Fabric::next_hop(int from, int to, int at, std::uint64_t salt) const {
  const auto& distance = distance_[row_of(switch_of(to))];
  const auto& neighbours = neighbours_[static_cast<std::size_t>(at)];
  const auto is_next = [&](const Neighbour& next) {
    return distance[static_cast<std::size_t>(next.to)] + next.cost ==
           distance[static_cast<std::size_t>(at)];
  };
  const auto ways =
      static_cast<std::uint64_t>(std::count_if(neighbours.begin(), neighbours.end(), is_next));
  assert(ways > 0);
  auto skip = ways > 1 ? choice(from, to, at, salt) % ways : 0;
  return *std::find_if(neighbours.begin(), neighbours.end(),
                       [&](const Neighbour& next) { return is_next(next) && skip-- == 0; });
}

std::vector<int> Fabric::route(int from, int to, std::uint64_t salt) const {
  std::vector<int> path{2 * from};
  for (int at = switch_of(from); at != switch_of(to);) {
    const Neighbour& next = next_hop(from, to, at, salt);
    path.push_back(2 * ports() + next.link);
    at = next.to;
  }
  path.push_back(2 * to + 1);
  return path;
}

const LinkKind& Fabric::kind(int directed_link) const {
  const int local = directed_link / 2;
  return local < ports() ? cable(local) : links_[static_cast<std::size_t>(local - ports())].kind;
}

int Fabric::hops(int from, int to) const {
  if (costs_differ_) {
    return static_cast<int>(route(from, to, 0).size()) - 1;
  }
  return 1 + distance_[row_of(switch_of(to))][static_cast<std::size_t>(switch_of(from))];
}

}  // namespace trainyard::topology
