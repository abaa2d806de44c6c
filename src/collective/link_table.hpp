#pragma once

#include <algorithm>
#include <vector>

#include "collective/plan.hpp"

namespace trainyard::collective {

/// A value for each link that some flows cross: an array over the range of their ids, since the
/// flows of a large collective cross most links of it and a map would be most of their cost.
template <typename T>
class LinkTable {
 public:
  LinkTable(const std::vector<Flow>& flows, T initial) {
    topology::LinkId last = -1;
    for (const Flow& flow : flows) {
      for (const topology::LinkId link : flow.links) {
        first_ = last < 0 ? link : std::min(first_, link);
        last = std::max(last, link);
      }
    }
    values_.assign(last < 0 ? 0 : static_cast<std::size_t>(last - first_) + 1, initial);
  }

  [[nodiscard]] T& operator[](topology::LinkId link) {
    return values_[static_cast<std::size_t>(link - first_)];
  }
  [[nodiscard]] const T& operator[](topology::LinkId link) const {
    return values_[static_cast<std::size_t>(link - first_)];
  }

 private:
  topology::LinkId first_ = 0;
  std::vector<T> values_{};
};

}  // namespace trainyard::collective
