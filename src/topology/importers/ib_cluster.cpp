// A discovered InfiniBand network to a cluster file.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "input/files.hpp"
#include "topology/importers/ib_network.hpp"
#include "topology/importers/kinds.hpp"
#include "topology/importers/sources.hpp"
#include "topology/node.hpp"

namespace trainyard::topology::importers {
namespace {

constexpr std::size_t kMostNamed = 5;  ///< hosts in one note

/// "mlx5_10" behind "mlx5_9": runs of digits compare as numbers.
std::vector<std::pair<std::string, std::int64_t>> natural(const std::string& text) {
  std::vector<std::pair<std::string, std::int64_t>> key;
  std::string letters;
  for (std::size_t i = 0; i < text.size();) {
    std::int64_t value = -1;
    std::size_t end = i;
    while (end < text.size() && end - i < 15 && text[end] >= '0' && text[end] <= '9') {
      value = std::max<std::int64_t>(value, 0) * 10 + (text[end] - '0');
      ++end;
    }
    if (value < 0) {
      letters += text[i++];
      continue;
    }
    key.emplace_back(letters, value);
    letters.clear();
    i = end;
  }
  key.emplace_back(letters, -1);
  return key;
}

struct Natural {
  bool operator()(const std::string& a, const std::string& b) const {
    return std::tuple{natural(a), a} < std::tuple{natural(b), b};
  }
};

/// A cabled port of a host.
struct HostPort {
  std::string adapter{};
  std::string id{};
  const IbPort* port = nullptr;
};

class ClusterWriter {
 public:
  explicit ClusterWriter(const Source& source)
      : source_{source}, network_{parse_ibnetdiscover(source.text, source.file)} {}

  std::string write() {
    source_.notes = network_.left_out;
    read_node_type();
    name_switches();
    find_hosts();
    choose_hosts();
    return text();
  }

 private:
  void read_node_type() {
    const input::Place place{"command line"};
    if (source_.options.node.empty()) {
      throw input::InputError{source_.whole(),
                              "says nothing of what is inside the hosts: give --node TYPE"};
    }
    const auto file =
        input::find_data(source_.options.node, {"topologies/nodes"}, {".toml"}, place);
    node_ = NodeType::parse(input::Document::parse_file(file.string()),
                            std::make_shared<const Catalog>(source_.catalog), std::nullopt);
    if (node_->nics() == 0) {
      throw input::InputError{place, fmt::format("--node {} has no NIC", source_.options.node)};
    }
  }

  // ---- Switches -------------------------------------------------------------------------------

  /// "MF0;leaf-01:MQM8700/U1": the system's name; chips of one chassis differ behind the colon.
  void name_switches() {
    std::map<std::string, int> uses;
    for (const IbRecord& record : network_.records) {
      ++uses[short_name(record)];
    }
    std::map<std::string, int> taken;
    for (const IbRecord& record : network_.records) {
      std::string name = short_name(record);
      if (record.is_switch && (name.empty() || uses[name] > 1)) {
        name = plain_name(record.description.substr(record.description.find(';') + 1));
      }
      if (record.is_switch && (name.empty() || ++taken[name] > 1)) {
        name = plain_name(record.id);
      }
      names_.push_back(name);
    }
  }

  [[nodiscard]] static std::string short_name(const IbRecord& record) {
    const std::string& text = record.description;
    const auto begin = text.find(';');
    const auto from = begin == std::string::npos ? 0 : begin + 1;
    return record.is_switch ? plain_name(text.substr(from, text.find(':', from) - from)) : "";
  }

  // ---- Hosts ----------------------------------------------------------------------------------

  void find_hosts() {
    for (const IbRecord& record : network_.records) {
      if (record.is_switch || record.cables.empty()) {
        continue;
      }
      if (record.description.find("Aggregation Node") != std::string::npos) {
        ++aggregation_nodes_;
      } else {
        add_adapter(record);
      }
    }
    for (auto& [host, ports] : hosts_) {
      std::sort(ports.begin(), ports.end(), [](const HostPort& a, const HostPort& b) {
        return std::tuple{natural(a.adapter), a.id, a.port->number} <
               std::tuple{natural(b.adapter), b.id, b.port->number};
      });
    }
  }

  /// "node01 mlx5_0": the host, then its adapter.
  void add_adapter(const IbRecord& record) {
    const std::string& text = record.description;
    const auto blank = text.find(' ');
    const std::string host = plain_name(text.substr(0, blank));
    const std::string adapter = blank == std::string::npos ? "" : text.substr(blank + 1);
    for (const IbPort& port : record.cables) {
      if (!network_.records[static_cast<std::size_t>(port.peer)].is_switch) {
        throw input::InputError{port.place, "joins two adapters, expected a switch at one end"};
      }
      hosts_[host.empty() ? plain_name(record.id) : host].push_back({adapter, record.id, &port});
    }
  }

  void choose_hosts() {
    std::vector<std::string> others;
    for (const auto& [host, ports] : hosts_) {
      if (static_cast<int>(ports.size()) != node_->nics()) {
        others.push_back(fmt::format("{} ({})", host, ports.size()));
      }
    }
    if (others.size() == hosts_.size()) {
      others.resize(std::min(others.size(), kMostNamed));
      throw input::InputError{
          source_.whole(),
          fmt::format("has no host with {} cabled ports, as many as {} has NICs (found: {})",
                      node_->nics(), source_.options.node,
                      others.empty() ? "no host" : fmt::format("{}", fmt::join(others, ", ")))};
    }
    if (!others.empty()) {
      const std::size_t count = others.size();
      others.resize(std::min(count, kMostNamed));
      source_.notes.push_back(
          fmt::format("{} hosts were left out, which do not have {} cabled ports: {}{}", count,
                      node_->nics(), fmt::join(others, ", "), count > kMostNamed ? ", ..." : ""));
    }
    if (aggregation_nodes_ > 0) {
      source_.notes.push_back(
          fmt::format("{} SHARP aggregation nodes were left out", aggregation_nodes_));
    }
    std::erase_if(hosts_, [&](const auto& host) {
      return static_cast<int>(host.second.size()) != node_->nics();
    });
  }

  // ---- Text -----------------------------------------------------------------------------------

  std::string kind_of(const IbPort& port) {
    const auto [entry, is_new] = kinds_.emplace(port.width_speed, "");
    if (is_new) {
      entry->second = network_kind(source_.catalog, Network::infiniband, port.rate);
      const auto taken = source_.catalog.link(entry->second, source_.whole()).bandwidth;
      if (std::abs(taken / port.rate - 1.0) > 0.01) {
        source_.notes.push_back(fmt::format("{} links are written as {}, the nearest kind",
                                            port.width_speed, entry->second));
      }
    }
    return entry->second;
  }

  [[nodiscard]] const std::string& name_of(int record) const {
    return names_[static_cast<std::size_t>(record)];
  }

  using Trunk = std::tuple<int, int, std::string>;  ///< records and kind

  /// Cables between switches, counted, in the order of the records.
  std::map<Trunk, int> trunks() {
    std::map<Trunk, int> count;
    for (std::size_t r = 0; r < network_.records.size(); ++r) {
      for (const IbPort& port : network_.records[r].cables) {
        const bool both = network_.records[r].is_switch &&
                          network_.records[static_cast<std::size_t>(port.peer)].is_switch;
        if (both && port.peer == static_cast<int>(r)) {
          throw input::InputError{port.place, "joins a switch with itself"};
        }
        if (both && static_cast<int>(r) < port.peer) {
          ++count[{static_cast<int>(r), port.peer, kind_of(port)}];
        }
      }
    }
    return count;
  }

  static std::string link_text(const std::string& a, const std::string& b, const std::string& kind,
                               int count) {
    return fmt::format("\n[[fabric.link]]\nbetween = [{}, {}]\nkind = {}\n{}", in_quotes(a),
                       in_quotes(b), in_quotes(kind),
                       count == 1 ? "" : fmt::format("count = {}\n", count));
  }

  std::string text() {
    std::string links;
    std::string hosts;
    int number = 0;
    for (const auto& [host, ports] : hosts_) {
      for (std::size_t i = 0; i < ports.size(); ++i) {
        const std::string nic =
            fmt::format("node{}/{}", number, node_->nic(static_cast<int>(i)).name);
        links += link_text(nic, name_of(ports[i].port->peer), kind_of(*ports[i].port), 1);
      }
      hosts += comment(fmt::format("node{} is {}", number, host));
      ++number;
    }
    for (const auto& [trunk, count] : trunks()) {
      const auto& [a, b, kind] = trunk;
      links += link_text(name_of(a), name_of(b), kind, count);
    }
    std::string head = comment("Imported by `trainyard topology import` from ibnetdiscover.");
    for (const std::string& note : source_.notes) {
      head += comment("Note: " + note + ".");
    }
    head += fmt::format(
        "name = {}\n\n{}[[node]]\ntype = {}\ncount = {}\n\n[fabric]\nkind = "
        "\"custom\"\n",
        in_quotes(source_.options.name), hosts, in_quotes(source_.options.node), number);
    return head + switches_text() + links;
  }

  [[nodiscard]] std::string switches_text() const {
    std::string all;
    for (std::size_t r = 0; r < network_.records.size(); ++r) {
      const IbRecord& record = network_.records[r];
      if (record.is_switch && !record.cables.empty()) {
        all += fmt::format("\n[[fabric.switch]]\nname = {}\nports = {}\n", in_quotes(names_[r]),
                           record.ports);
      }
    }
    return all;
  }

  const Source& source_;
  IbNetwork network_;
  std::shared_ptr<const NodeType> node_{};
  std::vector<std::string> names_{};  ///< of the switches, by record
  std::map<std::string, std::vector<HostPort>, Natural> hosts_{};
  std::map<std::string, std::string> kinds_{};  ///< by "4xHDR"
  int aggregation_nodes_ = 0;
};

}  // namespace

std::string read_ibnetdiscover(const Source& source) {
  return ClusterWriter{source}.write();
}

}  // namespace trainyard::topology::importers
