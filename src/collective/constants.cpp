#include "collective/constants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "input/files.hpp"

namespace trainyard::collective {
namespace {

using input::Section;

/// A section whose numbers are counted as they are read.
class Reader {
 public:
  explicit Reader(Section section) : section_{std::move(section)} {}

  [[nodiscard]] std::string name(std::string_view key) const {
    return section_.require(key).text();
  }
  units::Seconds seconds(std::string_view key) { return counted(key)->seconds(); }
  units::Seconds seconds_or(std::string_view key, units::Seconds other) {
    const auto value = counted_if(key);
    return value ? value->seconds() : other;
  }
  double share_or(std::string_view key, double other, double most = 1.0) {
    const auto value = counted_if(key);
    return value ? value->number_in(1e-6, most) : other;
  }
  [[nodiscard]] bool flag(std::string_view key) const {
    const auto value = section_.find(key);
    return value && value->boolean();
  }
  units::BytesPerSecond bandwidth(std::string_view key) { return counted(key)->bandwidth(); }
  int finish() const {
    section_.reject_unknown();
    return count_;
  }

 private:
  std::optional<input::Value> counted(std::string_view key) {
    ++count_;
    return section_.require(key);
  }
  std::optional<input::Value> counted_if(std::string_view key) {
    auto value = section_.find(key);
    count_ += value ? 1 : 0;
    return value;
  }

  Section section_;
  int count_ = 0;
};

Section required_section(const Section& parent, std::string_view key) {
  return parent.require(key).section();
}

int read_protocol(const Section& section, Protocol& protocol) {
  Reader reader{section};
  protocol.name = reader.name("name");
  protocol.nvlink_hop = reader.seconds("nvlink_hop");
  protocol.pcie_hop = reader.seconds("pcie_hop");
  protocol.bandwidth = reader.share_or("bandwidth", 1.0);
  const auto once = reader.seconds_or("once", {});
  const auto old = reader.seconds_or("once_before_2_12", once);
  protocol.once = {old, old, once};
  protocol.tree_fill = reader.share_or("tree_fill", 0.0, 1000.0);
  protocol.ring_fill = reader.share_or("ring_fill", 0.0, 1000.0);
  return reader.finish();
}

int read_transport(const Section& section, Transport& transport) {
  Reader reader{section};
  transport.name = reader.name("name");
  transport.hop = reader.seconds("hop");
  transport.ll128 = reader.flag("ll128");
  transport.lone_share = reader.share_or("lone_share", 1.0);
  return reader.finish();
}

int read_generation(const Section& section, Generation& generation) {
  Reader reader{section};
  generation.architecture = reader.name("architecture");
  generation.start = reader.share_or("start", 1.0);
  generation.ll128 = reader.flag("ll128");
  generation.switch_reduction = reader.share_or("switch_reduction", 0.0);
  generation.network_ll = reader.bandwidth("network_ll");
  return reader.finish();
}

int read_algorithms(const Section& section, Constants& constants) {
  Reader reader{section};
  constants.switched_pair = reader.share_or("switched_pair", 1.0);
  constants.one_phase = reader.share_or("one_phase", 1.0);
  constants.tree = reader.share_or("tree", 1.0);
  constants.both_ways = reader.share_or("both_ways", 1.0);
  constants.send_recv = reader.share_or("send_recv", 1.0);
  constants.switch_reduction = reader.seconds("switch_reduction");
  constants.sharp = reader.seconds("sharp");
  constants.staged = reader.share_or("staged", 1.0);
  constants.peer = reader.seconds("peer");
  constants.network_peer = reader.seconds("network_peer");
  return reader.finish();
}

int read_start(const Section& section, Constants& constants) {
  Reader reader{section};
  constants.start = reader.seconds("each");
  constants.gap = reader.seconds_or("gap", {});
  constants.one_process = reader.seconds("one_process");
  constants.one_process_per_gpu = reader.seconds("one_process_gpu");
  return reader.finish();
}

int read_slice(const Section& section, Constants& constants) {
  Reader reader{section};
  constants.slice_excess = reader.share_or("excess", 0.0, 10.0);
  constants.slice_part = reader.seconds("part");
  constants.slice_spread = reader.share_or("spread", 1.0, 1000.0);
  return reader.finish();
}

}  // namespace

Era era_of(std::string_view nccl_version) {
  const auto at = nccl_version.find("2.");
  if (at == std::string_view::npos) {
    return Era::current;
  }
  int minor = 0;
  const auto digits = nccl_version.substr(at + 2);
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), minor);
  if (read.ec != std::errc{}) {
    return Era::current;
  }
  return minor < 5 ? Era::before_2_5 : minor < 12 ? Era::before_2_12 : Era::current;
}

Constants Constants::parse(const input::Document& document) {
  const Section root = document.root();
  const Section table = required_section(root, "collective");
  Constants constants;
  int& count = constants.count_;
  count += read_start(required_section(table, "start"), constants);
  const auto protocols = table.sections("protocol");
  if (protocols.size() != constants.protocols.size()) {
    table.fail(fmt::format("must have the protocols ll, ll128 and simple, in this order; got {}",
                           protocols.size()));
  }
  for (std::size_t i = 0; i < protocols.size(); ++i) {
    count += read_protocol(protocols[i], constants.protocols[i]);
  }
  for (const Section& section : table.sections("transport")) {
    count += read_transport(section, constants.transports.emplace_back());
  }
  for (const Section& section : table.sections("generation")) {
    count += read_generation(section, constants.generations.emplace_back());
  }
  for (const Section& section : table.sections("link")) {
    Reader reader{section};
    constants.ring_shares.push_back({reader.name("kind"), reader.share_or("ring", 1.0)});
    count += reader.finish();
  }
  count += read_algorithms(required_section(table, "algorithm"), constants);
  count += read_slice(required_section(table, "slice"), constants);
  table.reject_unknown();
  root.reject_unknown();
  return constants;
}

Constants Constants::load() {
  const auto path = input::data_folder() / "topologies" / "catalog" / "collectives.toml";
  return parse(input::Document::parse_file(path.string()));
}

const Transport& Constants::transport(std::string_view name) const {
  static const Transport none;
  const auto found = std::find_if(transports.begin(), transports.end(),
                                  [&](const Transport& entry) { return entry.name == name; });
  return found == transports.end() ? none : *found;
}

const Generation& Constants::generation(std::string_view architecture) const {
  static const Generation other;
  const auto found =
      std::find_if(generations.begin(), generations.end(),
                   [&](const Generation& entry) { return entry.architecture == architecture; });
  return found == generations.end() ? other : *found;
}

const RingShare* Constants::ring_share(std::string_view link) const {
  const auto found = std::find_if(ring_shares.begin(), ring_shares.end(),
                                  [&](const RingShare& entry) { return entry.link == link; });
  return found == ring_shares.end() ? nullptr : &*found;
}

units::Seconds Constants::start_of(const Software& software, std::string_view architecture,
                                   std::size_t gpus) const {
  const units::Seconds older =
      software.one_process ? one_process + one_process_per_gpu * static_cast<double>(gpus) : start;
  const units::Seconds before = software.call_to_call ? units::Seconds{} : gap;
  return (older - before) * generation(architecture).start;
}

}  // namespace trainyard::collective
