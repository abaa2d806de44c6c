#include <fmt/core.h>
#include <fmt/format.h>

#include "scheduling/placements/count.hpp"
#include "scheduling/placements/pack.hpp"
#include "scheduling/placements/spread.hpp"
#include "scheduling/policies/fifo.hpp"
#include "scheduling/policies/fifo_best_effort.hpp"
#include "scheduling/policy.hpp"

namespace trainyard::scheduling {

const std::map<std::string_view, MakePolicy>& policies() {
  static const std::map<std::string_view, MakePolicy> table{
      {"fifo", &Fifo::make},
      {"fifo-best-effort", &FifoBestEffort::make},
  };
  return table;
}

const std::map<std::string_view, MakePlacement>& placements() {
  static const std::map<std::string_view, MakePlacement> table{
      {"count", &Count::make},
      {"pack", &Pack::make},
      {"spread", &Spread::make},
  };
  return table;
}

namespace {

template <typename Made>
using Table = std::map<std::string_view, std::unique_ptr<Made> (*)(const input::Section&)>;

/// @param key  of [scheduler] that names a row; absent: `usual`
template <typename Made>
std::unique_ptr<Made> make(const input::Section& scheduler, std::string_view key,
                           std::string_view usual, const Table<Made>& table) {
  const auto value = scheduler.find(key);
  const std::string name = value ? value->text() : std::string{usual};
  const auto row = table.find(name);
  if (row == table.end()) {
    std::vector<std::string_view> known;
    for (const auto& entry : table) {
      known.push_back(entry.first);
    }
    throw input::InputError{value->place(), fmt::format("unknown {} \"{}\" (known: {})", key, name,
                                                        fmt::join(known, ", "))};
  }
  return row->second(scheduler);
}

}  // namespace

std::unique_ptr<Policy> make_policy(const input::Section& scheduler) {
  return make<Policy>(scheduler, "policy", "fifo", policies());
}

std::unique_ptr<Placement> make_placement(const input::Section& scheduler) {
  return make<Placement>(scheduler, "placement", "pack", placements());
}

}  // namespace trainyard::scheduling
