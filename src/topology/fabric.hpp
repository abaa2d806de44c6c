#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "topology/catalog.hpp"

namespace trainyard::topology {

enum class Routing { static_routes, ecmp, adaptive };

/// Parallel links between two switches.
struct SwitchLink {
  int a = 0;
  int b = 0;
  LinkKind kind{};
  int count = 1;
  int cost = 1;  ///< routes have the least sum of costs
};

/// Switches, the links between them and the cables to the nodes' NICs. Directed fabric link ids:
/// cables first (2 x port, + 1 from the switch), then switch links (2 x link, + 1 from b to a).
class Fabric {
 public:
  explicit Fabric(std::string kind = "") : kind_{std::move(kind)} {}

  int add_switch(std::string name);
  void add_link(int a, int b, const LinkKind& kind, int count, int cost = 1);
  /// Port number = order of the calls.
  void attach(int at_switch, const LinkKind& cable);
  void set_routing(Routing routing, std::uint64_t seed);
  void set_shape(std::vector<int> sides) { shape_ = std::move(sides); }
  void set_in_network_reduction(bool can) { reduces_ = can; }
  /// Finds distances; call once, after everything is there.
  /// @returns false when a switch with ports cannot reach another one within 250 switches
  [[nodiscard]] bool finish();

  [[nodiscard]] const std::string& kind_name() const { return kind_; }
  [[nodiscard]] Routing routing() const { return routing_; }
  [[nodiscard]] int ports() const { return static_cast<int>(port_switch_.size()); }
  [[nodiscard]] int switches() const { return static_cast<int>(names_.size()); }
  [[nodiscard]] const std::string& switch_name(int index) const;
  [[nodiscard]] int switch_of(int port) const;
  [[nodiscard]] const LinkKind& cable(int port) const;
  [[nodiscard]] const std::vector<SwitchLink>& links() const { return links_; }
  [[nodiscard]] int directed_links() const;
  [[nodiscard]] bool in_network_reduction() const { return reduces_; }
  /// Sides of a torus, whose switches are numbered row by row; else empty.
  [[nodiscard]] const std::vector<int>& shape() const { return shape_; }

  /// Directed fabric links from one port to another, cables included.
  [[nodiscard]] std::vector<int> route(int from, int to, std::uint64_t salt) const;
  [[nodiscard]] const LinkKind& kind(int directed_link) const;
  /// Switches on that way.
  [[nodiscard]] int hops(int from, int to) const;

 private:
  struct Neighbour {
    int to = 0;
    int link = 0;  ///< directed, without the cables' offset
    int cost = 1;
  };
  [[nodiscard]] std::uint64_t choice(int from, int to, int at, std::uint64_t salt) const;
  [[nodiscard]] const Neighbour& next_hop(int from, int to, int at, std::uint64_t salt) const;
  [[nodiscard]] std::size_t row_of(int target_switch) const {
    return static_cast<std::size_t>(target_of_switch_[static_cast<std::size_t>(target_switch)]);
  }
  void measure(std::size_t target);

  std::string kind_;
  std::vector<int> shape_{};
  bool reduces_ = false;
  std::vector<std::string> names_{};
  std::vector<SwitchLink> links_{};
  std::vector<int> port_switch_{};
  std::vector<int> port_rank_{};         ///< among the ports of its switch
  std::vector<int> ports_of_switch_{};   ///< how many
  std::vector<LinkKind> cable_kinds_{};  ///< distinct
  std::vector<int> port_cable_{};
  std::vector<std::vector<Neighbour>> neighbours_{};
  std::vector<int> target_of_switch_{};                ///< row of `distance_`, -1: no port there
  std::vector<std::vector<std::uint8_t>> distance_{};  ///< costs by target, by switch
  bool costs_differ_ = false;
  Routing routing_ = Routing::static_routes;
  std::uint64_t seed_ = 1;
};

}  // namespace trainyard::topology
