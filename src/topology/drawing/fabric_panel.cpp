// Switches by tier, nodes below; a torus as a grid.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "topology/drawing/panels.hpp"

namespace trainyard::topology::drawing {
namespace {

/// More boxes in a row than this are joined into boxes that stand for several.
constexpr std::size_t kMostInRow = 40;
constexpr double kRow = 130.0;

std::vector<std::vector<int>> neighbours_of(const Fabric& fabric) {
  std::vector<std::vector<int>> all(static_cast<std::size_t>(fabric.switches()));
  for (const SwitchLink& link : fabric.links()) {
    all[static_cast<std::size_t>(link.a)].push_back(link.b);
    all[static_cast<std::size_t>(link.b)].push_back(link.a);
  }
  return all;
}

/// Tier of each switch: 0 has cables to NICs, each next tier is a link further away.
std::vector<int> tiers_of(const Fabric& fabric) {
  std::vector<int> tier(static_cast<std::size_t>(fabric.switches()), -1);
  std::vector<int> row;
  for (int port = 0; port < fabric.ports(); ++port) {
    int& at = tier[static_cast<std::size_t>(fabric.switch_of(port))];
    if (at < 0) {
      at = 0;
      row.push_back(fabric.switch_of(port));
    }
  }
  const auto neighbours = neighbours_of(fabric);
  for (int next = 1; !row.empty(); ++next) {
    std::vector<int> above;
    for (const int from : row) {
      for (const int to : neighbours[static_cast<std::size_t>(from)]) {
        if (tier[static_cast<std::size_t>(to)] < 0) {
          tier[static_cast<std::size_t>(to)] = next;
          above.push_back(to);
        }
      }
    }
    row = std::move(above);
  }
  return tier;
}

/// A box: one switch or node, or several that are alike.
struct Group {
  std::string name{};
  int count = 0;
  Point at{};
};

class TierPanel {
 public:
  TierPanel(const Cluster& cluster, Pens& pens)
      : made_{cluster.implementation()},
        fabric_{made_.fabric},
        pens_{pens},
        tier_{tiers_of(fabric_)},
        neighbours_{neighbours_of(fabric_)} {}

  Picture draw() {
    const int tiers = 1 + *std::max_element(tier_.begin(), tier_.end());
    rows_.resize(static_cast<std::size_t>(tiers) + 1);
    group_nodes();
    group_switches(tiers);
    regroup_nodes();
    place();
    draw_trunks();
    draw_cables();
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      for (const Group& group : rows_[row]) {
        picture_.box(group.at, {width_, 30.0}, row == 0 ? "#c8e6c9" : "#ffe0b2", text_of(group));
      }
    }
    return std::move(picture_);
  }

 private:
  [[nodiscard]] static std::string text_of(const Group& group) {
    return group.count == 1 ? group.name : fmt::format("{} x {}", group.count, group.name);
  }

  /// "pod-spine" of "pod0-spine3", for a box of several.
  static std::string stem(std::string name) {
    std::erase_if(name, [](char c) { return c >= '0' && c <= '9'; });
    return name;
  }

  static void add(std::vector<Group>& row, std::size_t group, const std::string& name) {
    if (group == row.size()) {
      row.push_back({name, 0, {}});
    }
    ++row[group].count;
  }

  [[nodiscard]] std::set<int> switches_of(std::size_t node) const {
    std::set<int> all;
    for (int i = 0; i < made_.nodes[node].type->nics(); ++i) {
      all.insert(fabric_.switch_of(made_.nodes[node].first_port + i));
    }
    return all;
  }

  /// Too many nodes are joined by type and the switches that they are cabled to.
  void group_nodes() {
    node_group_.assign(made_.nodes.size(), 0);
    const bool join = made_.nodes.size() > kMostInRow;
    join_nodes([&](std::size_t node) {
      return join ? switches_of(node) : std::set<int>{static_cast<int>(node)};
    });
    if (!join) {
      for (std::size_t node = 0; node < rows_[0].size(); ++node) {
        rows_[0][node].name = fmt::format("node{}", node);
      }
    }
  }

  /// Where that is not enough, by the boxes of switches, and in the end by type.
  void regroup_nodes() {
    if (rows_[0].size() > kMostInRow) {
      join_nodes([&](std::size_t node) {
        std::set<int> boxes;
        for (const int each : switches_of(node)) {
          boxes.insert(static_cast<int>(switch_group_[static_cast<std::size_t>(each)]));
        }
        return boxes;
      });
    }
    if (rows_[0].size() > kMostInRow) {
      join_nodes([](std::size_t) { return std::set<int>{}; });
    }
  }

  template <class Key>
  void join_nodes(const Key& key_of_node) {
    std::map<std::tuple<const NodeType*, std::set<int>>, std::size_t> known;
    rows_[0].clear();
    for (std::size_t node = 0; node < made_.nodes.size(); ++node) {
      const NodeType* const type = made_.nodes[node].type;
      node_group_[node] =
          known.emplace(std::tuple{type, key_of_node(node)}, rows_[0].size()).first->second;
      add(rows_[0], node_group_[node], type->name());
    }
  }

  void group_switches(int tiers) {
    switch_group_.resize(tier_.size());
    served_.resize(tier_.size());
    for (std::size_t node = 0; node < made_.nodes.size(); ++node) {
      for (const int each : switches_of(node)) {
        served_[static_cast<std::size_t>(each)].insert(static_cast<int>(node_group_[node]));
      }
    }
    for (int tier = 0; tier < tiers; ++tier) {
      group_tier(tier);
    }
  }

  /// What makes switches of a tier alike, in the order in which it is tried.
  enum class Likeness { none, below, above, all };

  /// Too many switches of a tier are joined by what they serve below, where that is not enough by
  /// what is above them, and in the end all.
  void group_tier(int tier) {
    const auto many = static_cast<std::size_t>(std::count(tier_.begin(), tier_.end(), tier));
    auto& row = rows_[static_cast<std::size_t>(tier) + 1];
    for (const Likeness likeness :
         {Likeness::none, Likeness::below, Likeness::above, Likeness::all}) {
      if (likeness == Likeness::none && many > kMostInRow) {
        continue;
      }
      join_switches(tier, likeness, row);
      if (row.size() <= kMostInRow) {
        break;
      }
    }
    for (Group& group : row) {
      group.name = group.count > 1 ? stem(group.name) : group.name;
    }
  }

  void join_switches(int tier, Likeness likeness, std::vector<Group>& row) {
    std::map<std::set<int>, std::size_t> known;
    row.clear();
    for (int i = 0; i < fabric_.switches(); ++i) {
      if (tier_[static_cast<std::size_t>(i)] == tier) {
        const std::size_t group = known.emplace(key_of(i, likeness), row.size()).first->second;
        add(row, group, fabric_.switch_name(i));
        switch_group_[static_cast<std::size_t>(i)] = group;
      }
    }
  }

  [[nodiscard]] std::set<int> key_of(int index, Likeness likeness) const {
    const auto at = static_cast<std::size_t>(index);
    switch (likeness) {
      case Likeness::none:
        return {index};
      case Likeness::below:
        return tier_[at] == 0 ? served_[at] : neighbours_in(index, tier_[at] - 1, true);
      case Likeness::above:
        return neighbours_in(index, tier_[at] + 1, false);
      case Likeness::all:
        break;
    }
    return {};
  }

  /// Neighbours of a tier, or the boxes that they are in.
  [[nodiscard]] std::set<int> neighbours_in(int index, int tier, bool boxes) const {
    std::set<int> found;
    for (const int other : neighbours_[static_cast<std::size_t>(index)]) {
      const auto at = static_cast<std::size_t>(other);
      if (tier_[at] == tier) {
        found.insert(boxes ? static_cast<int>(switch_group_[at]) : other);
      }
    }
    return found;
  }

  void place() {
    std::size_t widest = 1;
    for (const auto& row : rows_) {
      widest = std::max(widest, row.size());
      for (const Group& group : row) {
        width_ = std::max(width_, text_width(text_of(group)) + 10.0);
      }
    }
    const double whole = static_cast<double>(widest) * (width_ + 12.0);
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      const double pitch = whole / static_cast<double>(rows_[row].size());
      const double y = 20.0 + kRow * static_cast<double>(rows_.size() - 1 - row);
      for (std::size_t i = 0; i < rows_[row].size(); ++i) {
        rows_[row][i].at = {pitch * (static_cast<double>(i) + 0.5), y};
      }
    }
  }

  [[nodiscard]] Point switch_place(int index) const {
    const auto i = static_cast<std::size_t>(index);
    return rows_[static_cast<std::size_t>(tier_[i]) + 1][switch_group_[i]].at;
  }

  /// Parallel lines of the picture become one.
  struct Wire {
    Point a{};
    Point b{};
    LinkKind kind{};
    int count = 0;
  };
  using Ends = std::tuple<double, double, double, double, std::string>;

  static void count_wire(std::map<Ends, Wire>& wires, Point a, Point b, const LinkKind& kind,
                         int count) {
    Wire& wire = wires[{a.y, a.x, b.y, b.x, kind.name}];
    wire = {a, b, kind, wire.count + count};
  }

  void draw_wires(const std::map<Ends, Wire>& wires) {
    for (const auto& [ends, wire] : wires) {
      Stroke stroke = pens_.of(wire.kind, wire.count);
      // Hundreds of lines cross: counts go to the width, and to a label where there is room.
      stroke.width = wires.size() > 60 ? 0.8 : std::min(6.0, 1.2 + 0.15 * wire.count);
      if (wire.a.y == wire.b.y) {
        picture_.curve(wire.a, {(wire.a.x + wire.b.x) / 2, wire.a.y + 70.0}, wire.b, stroke);
      } else {
        picture_.line(wire.a, wire.b, stroke);
      }
      if (wire.count > 1 && wires.size() <= 60) {
        const double share = wire.a.y == wire.b.y ? 0.5 : 0.3;
        picture_.label({wire.a.x + (wire.b.x - wire.a.x) * share,
                        wire.a.y + (wire.b.y - wire.a.y) * share + (share == 0.5 ? 35.0 : 0.0)},
                       std::to_string(wire.count));
      }
    }
  }

  void draw_trunks() {
    std::map<Ends, Wire> wires;
    for (const SwitchLink& link : fabric_.links()) {
      const Point a = switch_place(link.a);
      const Point b = switch_place(link.b);
      const bool swap = std::tuple{b.y, b.x} < std::tuple{a.y, a.x};
      if (a.x != b.x || a.y != b.y) {
        count_wire(wires, swap ? b : a, swap ? a : b, link.kind, link.count);
      }
    }
    draw_wires(wires);
  }

  void draw_cables() {
    std::map<Ends, Wire> wires;
    for (std::size_t node = 0; node < made_.nodes.size(); ++node) {
      const auto& instance = made_.nodes[node];
      for (int i = 0; i < instance.type->nics(); ++i) {
        const int port = instance.first_port + i;
        count_wire(wires, rows_[0][node_group_[node]].at, switch_place(fabric_.switch_of(port)),
                   fabric_.cable(port), 1);
      }
    }
    draw_wires(wires);
  }

  const Cluster::Implementation& made_;
  const Fabric& fabric_;
  Pens& pens_;
  std::vector<int> tier_;
  std::vector<std::vector<int>> neighbours_;
  std::vector<std::set<int>> served_{};     ///< by switch: boxes of nodes
  std::vector<std::vector<Group>> rows_{};  ///< nodes, then tier by tier
  std::vector<std::size_t> node_group_{};
  std::vector<std::size_t> switch_group_{};
  double width_ = 60.0;
  Picture picture_{};
};

constexpr Point kTorusPitch{78.0, 56.0};
constexpr double kRingEnd = 40.0;

/// Rings of a torus close behind the picture's edge: short ends show them.
void draw_torus_link(Picture& picture, Point a, Point b, const Stroke& stroke) {
  const double across = b.x - a.x;
  const double down = b.y - a.y;
  if (std::abs(across) < 1.5 * kTorusPitch.x && std::abs(down) < 1.5 * kTorusPitch.y) {
    picture.line(a, b, stroke);
    return;
  }
  const auto end = [](double way) { return way == 0.0 ? 0.0 : std::copysign(kRingEnd, way); };
  picture.line(a, {a.x - end(across), a.y - end(down)}, stroke);
  picture.line(b, {b.x + end(across), b.y + end(down)}, stroke);
}

Picture torus_panel(const Cluster& cluster, int columns, Pens& pens) {
  const Fabric& fabric = cluster.implementation().fabric;
  Picture picture;
  const auto at = [&](int index) {
    const int row = index / columns;
    return Point{kRingEnd + 20.0 + kTorusPitch.x * (index - row * columns),
                 kRingEnd + 10.0 + kTorusPitch.y * row};
  };
  for (const SwitchLink& link : fabric.links()) {
    draw_torus_link(picture, at(link.a), at(link.b), pens.of(link.kind, link.count));
  }
  for (int i = 0; i < fabric.switches(); ++i) {
    picture.box(at(i), {54.0, 26.0}, "#ffe0b2", std::to_string(i), fabric.switch_name(i));
  }
  return picture;
}

}  // namespace

int torus_columns(const Fabric& fabric) {
  const auto neighbours = neighbours_of(fabric);
  const int switches = fabric.switches();
  for (int columns = 3; columns * 3 <= switches; ++columns) {
    if (switches % columns != 0) {
      continue;
    }
    bool fits = true;
    for (int i = 0; i < switches && fits; ++i) {
      const int row = i / columns * columns;
      const std::set<int> wanted{row + (i + 1) % columns, row + (i - row + columns - 1) % columns,
                                 (i + columns) % switches, (i + switches - columns) % switches};
      const auto& found = neighbours[static_cast<std::size_t>(i)];
      fits = std::set<int>{found.begin(), found.end()} == wanted;
    }
    if (fits) {
      return columns;
    }
  }
  return 0;
}

Picture fabric_panel(const Cluster& cluster, Pens& pens) {
  const Fabric& fabric = cluster.implementation().fabric;
  const int columns = torus_columns(fabric);
  // Larger grids say no more.
  return columns > 0 && fabric.switches() <= 1024 ? torus_panel(cluster, columns, pens)
                                                  : TierPanel{cluster, pens}.draw();
}

}  // namespace trainyard::topology::drawing
