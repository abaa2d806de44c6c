#include <fmt/format.h>

#include <map>
#include <utility>

#include "topology/fabric_kinds.hpp"
#include "topology/names.hpp"

namespace trainyard::topology {
namespace {

constexpr std::int64_t kManyPorts = 1'000'000;
constexpr std::size_t kMostLinks = 500'000;

/// A free list of switches and links.
class CustomFabric {
 public:
  CustomFabric(const input::Section& section, const std::vector<NodePorts>& nodes,
               const Catalog& catalog)
      : section_{section}, nodes_{nodes}, catalog_{catalog} {}

  Fabric build() {
    for (const input::Section& each : section_.sections("switch")) {
      const input::Value name = each.require("name");
      const auto ports = each.find("ports");
      for (const std::string& one : expand_name(name)) {
        if (!switches_.emplace(one, fabric_.add_switch(one)).second) {
          name.fail(fmt::format("\"{}\" is the name of another switch", one));
        }
        free_ports_.push_back(ports ? ports->integer_in(1, kManyPorts) : kManyPorts);
      }
      each.reject_unknown();
    }
    for (const input::Section& each : section_.sections("link")) {
      read_link(each);
    }
    attach_all();
    return std::move(fabric_);
  }

 private:
  struct Attachment {
    int at_switch = -1;
    LinkKind cable{};
  };

  void read_link(const input::Section& section) {
    const input::Value between = section.require("between");
    const auto ends = between.array();
    if (ends.size() != 2) {
      between.fail("must name the two ends of a link");
    }
    const input::Value name = section.require("kind");
    const LinkKind& kind = network_link(name, catalog_);
    const auto count = section.find("count");
    const int links = count ? static_cast<int>(count->integer_in(1, 10000)) : 1;
    section.reject_unknown();
    for (const std::string& a : expand_name(ends[0])) {
      for (const std::string& b : expand_name(ends[1])) {
        connect(ends[0], a, ends[1], b, kind, links);
      }
    }
  }

  void connect(const input::Value& a_value, const std::string& a, const input::Value& b_value,
               const std::string& b, const LinkKind& kind, int links) {
    const bool a_is_nic = a.find('/') != std::string::npos;
    const bool b_is_nic = b.find('/') != std::string::npos;
    if (a_is_nic && b_is_nic) {
      b_value.fail("links two NICs: a NIC goes to a switch");
    }
    if (a_is_nic || b_is_nic) {
      const std::string& nic = a_is_nic ? a : b;
      const int at = a_is_nic ? find_switch(b_value, b) : find_switch(a_value, a);
      take_ports(b_value, at, 1);
      if (links != 1) {
        b_value.fail(fmt::format("gives \"{}\" {} cables: a NIC has one", nic, links));
      }
      if (!attachments_.emplace(nic, Attachment{at, kind}).second) {
        b_value.fail(fmt::format("\"{}\" has a cable already", nic));
      }
      return;
    }
    const int from = find_switch(a_value, a);
    const int to = find_switch(b_value, b);
    if (from == to) {
      b_value.fail(fmt::format("links \"{}\" with itself", a));
    }
    if (fabric_.links().size() >= kMostLinks) {
      b_value.fail(fmt::format("makes more than {} links", kMostLinks));
    }
    take_ports(b_value, from, links);
    take_ports(b_value, to, links);
    fabric_.add_link(from, to, kind, links);
  }

  void take_ports(const input::Value& value, int at_switch, int links) {
    std::int64_t& left = free_ports_[static_cast<std::size_t>(at_switch)];
    left -= links;
    if (left < 0) {
      value.fail(fmt::format("needs more ports than \"{}\" has", fabric_.switch_name(at_switch)));
    }
  }

  int find_switch(const input::Value& value, const std::string& name) const {
    const auto found = switches_.find(name);
    if (found == switches_.end()) {
      std::vector<std::string> known;
      for (const auto& [other, index] : switches_) {
        known.push_back(other);
      }
      value.fail(fmt::format("names \"{}\", which is no switch of this fabric{}", name,
                             input::suggestion(name, known)));
    }
    return found->second;
  }

  void attach_all() {
    std::size_t used = 0;
    for (const NodePorts& node : nodes_) {
      for (std::size_t i = 0; i < node.nics.size(); ++i) {
        const auto found = attachments_.find(node.name + "/" + node.nics[i]);
        if (found == attachments_.end()) {
          section_.fail(fmt::format("no [[fabric.link]] for \"{}/{}\"", node.name, node.nics[i]));
        }
        fabric_.attach(found->second.at_switch, slower(node.cables[i], found->second.cable));
        ++used;
      }
    }
    if (used != attachments_.size()) {
      section_.fail("a [[fabric.link]] names a NIC that no node has");
    }
  }

  const input::Section& section_;
  const std::vector<NodePorts>& nodes_;
  const Catalog& catalog_;
  Fabric fabric_{"custom"};
  std::vector<std::int64_t> free_ports_{};
  std::map<std::string, int> switches_{};
  std::map<std::string, Attachment> attachments_{};
};

}  // namespace

Fabric custom_fabric(const input::Section& section, const std::vector<NodePorts>& nodes,
                     const Catalog& catalog) {
  return CustomFabric{section, nodes, catalog}.build();
}

}  // namespace trainyard::topology
