#pragma once

#include <cstdint>
#include <vector>

namespace trainyard::engine {

/// A flow for max-min sharing.
struct Sharer {
  const std::vector<std::uint32_t>* resources = nullptr;  ///< one listed twice counts twice
  double cap = 0.0;                                       ///< 0: none
  double weight = 1.0;
  double rate = 0.0;  ///< the result
};

/// Weighted max-min rates by progressive filling: all rates grow in proportion to their weights; a
/// flow stops at its cap or when one of its resources is full.
/// @param capacity  by resource
/// @source Bertsekas and Gallager, Data Networks, 6.5.2
void share_max_min(std::vector<Sharer>& flows, const std::vector<double>& capacity);

}  // namespace trainyard::engine
