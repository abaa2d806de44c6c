// Spines above leaves and, where one spine cannot reach all leaves, cores above pods.
#include "topology/tree_tiers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trainyard::topology {
namespace {

/// Spreads `links` as evenly as possible over `count` switches: the i-th gets this many.
int share_of(int links, int count, int i) {
  return links / count + (i < links % count ? 1 : 0);
}

int up_ports(const input::Section& section, int ports) {
  const auto uplinks = section.find("uplinks");
  const auto ratio = section.find("oversubscription");
  if (uplinks && ratio) {
    ratio->fail("cannot stand beside 'uplinks': one follows from the other");
  }
  if (uplinks) {
    return static_cast<int>(uplinks->integer_in(1, ports - 1));
  }
  const double oversubscription = ratio ? ratio->number_in(1.0, 1000.0) : 1.0;
  const double share = oversubscription / (1.0 + oversubscription);
  return ports - std::clamp(static_cast<int>(std::lround(ports * share)), 1, ports - 1);
}

int integer_or(const input::Section& section, std::string_view key, int least, int otherwise) {
  const auto value = section.find(key);
  return value ? static_cast<int>(value->integer_in(least, 10000)) : otherwise;
}

/// As many spines as asked for, else the fewest that have a port for every uplink.
int spine_count(const TreeShape& shape, int leaves) {
  const int fewest = (leaves * shape.up + shape.spine_ports - 1) / shape.spine_ports;
  if (!shape.spines) {
    return std::min(fewest, shape.up);
  }
  const int spines = static_cast<int>(shape.spines->integer_in(1, shape.up));
  if (leaves * share_of(shape.up, spines, 0) > shape.spine_ports) {
    shape.spines->fail(
        fmt::format("gives a spine more links than its {} ports, got {} for {} "
                    "leaves of {} uplinks",
                    shape.spine_ports, spines, leaves, shape.up));
  }
  return spines;
}

/// Spines above all leaves. Merged: one spine that is as wide as all of them.
void add_spines(Fabric& fabric, const TreeShape& shape, const std::vector<Pod>& pods, int leaves) {
  const int wanted = spine_count(shape, leaves);
  const int spines = shape.merge ? 1 : wanted;
  for (int s = 0; s < spines; ++s) {
    const int spine = fabric.add_switch(fmt::format("spine{}", s));
    for (const Pod& pod : pods) {
      for (const int leaf : pod) {
        fabric.add_link(leaf, spine, shape.link, share_of(shape.up, spines, s));
      }
    }
  }
}

/// Counts of a tree of three tiers. Spine s of a pod is cabled to the cores of group s modulo the
/// number of groups: all cores when its uplinks suffice, else a cable to each core of the group.
struct ThreeTiers {
  int spines = 0;  ///< of a pod
  int up = 0;      ///< links of a spine to cores
  int cores = 0;
  int groups = 1;

  [[nodiscard]] int cores_of_group() const { return cores / groups; }
};

void check_ports(const TreeShape& shape, const ThreeTiers& tiers, int pods) {
  const int down = shape.pod_leaves * share_of(shape.up, tiers.spines, 0);
  if (down + tiers.up > shape.spine_ports) {
    shape.place.fail(
        fmt::format("a spine of {} ports cannot have {} links down and {} up: {} leaves of {} "
                    "uplinks to {} spines in a pod",
                    shape.spine_ports, down, tiers.up, shape.pod_leaves, shape.up, tiers.spines));
  }
  const int links = pods * ((tiers.spines + tiers.groups - 1) / tiers.groups) *
                    share_of(tiers.up, tiers.cores_of_group(), 0);
  if (links > shape.spine_ports) {
    shape.place.fail(fmt::format(
        "a core of {} ports cannot have {} links: {} pods of {} spines with {} uplinks to {} cores",
        shape.spine_ports, links, pods, tiers.spines, tiers.up, tiers.cores));
  }
}

/// The canonical tree unless the file says otherwise: a spine of a pod for every uplink of a leaf,
/// as many of its ports up as down, a core's ports to one spine of each pod.
ThreeTiers count_tiers(const TreeShape& shape, int pods) {
  ThreeTiers tiers{.spines = shape.up};
  if (shape.spines) {
    const auto spines = shape.spines->integer_in(1, static_cast<std::int64_t>(pods) * shape.up);
    if (spines % pods != 0) {
      shape.spines->fail(fmt::format("must be a multiple of the {} pods, got {}", pods, spines));
    }
    tiers.spines = static_cast<int>(spines) / pods;
  }
  const int down = shape.pod_leaves * share_of(shape.up, tiers.spines, 0);
  tiers.up = std::max(static_cast<int>(std::lround(down / shape.core_oversubscription)), 1);
  tiers.cores = tiers.up * tiers.spines;
  if (shape.cores) {
    tiers.cores = static_cast<int>(shape.cores->integer_in(1, tiers.cores));
    if (tiers.cores > tiers.up && tiers.cores % tiers.up != 0) {
      shape.cores->fail(
          fmt::format("must be groups of a spine's {} uplinks, got {}", tiers.up, tiers.cores));
    }
  }
  tiers.groups = std::max(tiers.cores / tiers.up, 1);
  check_ports(shape, tiers, pods);
  return tiers;
}

void add_pod(Fabric& fabric, const TreeShape& shape, const ThreeTiers& tiers, const Pod& leaves,
             int number, int first_core) {
  for (int s = 0; s < tiers.spines; ++s) {
    const int spine = fabric.add_switch(fmt::format("pod{}-spine{}", number, s));
    for (const int leaf : leaves) {
      fabric.add_link(leaf, spine, shape.link, share_of(shape.up, tiers.spines, s));
    }
    const int group = first_core + s % tiers.groups * tiers.cores_of_group();
    for (int c = 0; c < tiers.cores_of_group(); ++c) {
      fabric.add_link(spine, group + c, shape.link, share_of(tiers.up, tiers.cores_of_group(), c));
    }
  }
}

void add_pods(Fabric& fabric, const TreeShape& shape, const std::vector<Pod>& pods, int leaves) {
  if (static_cast<int>(pods.size()) > shape.spine_ports) {
    shape.place.fail(fmt::format("{} leaves of {} ports, in {} pods, need more than three tiers",
                                 leaves, shape.ports, pods.size()));
  }
  ThreeTiers tiers = count_tiers(shape, static_cast<int>(pods.size()));
  if (shape.merge) {
    tiers = {.spines = 1, .up = tiers.spines * tiers.up, .cores = 1};
  }
  const int first_core = fabric.switches();
  for (int i = 0; i < tiers.cores; ++i) {
    fabric.add_switch(fmt::format("core{}", i));
  }
  for (std::size_t pod = 0; pod < pods.size(); ++pod) {
    add_pod(fabric, shape, tiers, pods[pod], static_cast<int>(pod), first_core);
  }
}

}  // namespace

TreeShape read_tree_shape(const input::Section& section, const LinkKind& link, bool merge) {
  TreeShape shape{.link = link, .merge = merge, .place = section};
  shape.ports = static_cast<int>(section.require("leaf_ports").integer_in(2, 10000));
  shape.up = up_ports(section, shape.ports);
  shape.spine_ports = integer_or(section, "spine_ports", 2, shape.ports);
  shape.pod_leaves = integer_or(section, "pod_leaves", 1, shape.ports / 2);
  if (const auto value = section.find("core_oversubscription")) {
    shape.core_oversubscription = value->number_in(1.0, 1000.0);
  }
  shape.spines = section.find("spines");
  shape.cores = section.find("cores");
  shape.three = shape.cores || section.has("pod_leaves") || section.has("core_oversubscription");
  return shape;
}

void add_tiers(Fabric& fabric, const TreeShape& shape, const std::vector<Pod>& pods, int leaves) {
  if (leaves < 2) {
    return;
  }
  if (shape.three || leaves > shape.spine_ports) {
    add_pods(fabric, shape, pods, leaves);
  } else {
    add_spines(fabric, shape, pods, leaves);
  }
}

}  // namespace trainyard::topology
