#include <algorithm>
#include <array>

#include "topology/drawing/panels.hpp"

namespace trainyard::topology::drawing {
namespace {

constexpr std::array<std::string_view, 5> kDashes{"", "7 3", "2 3", "9 3 2 3", "12 4"};
constexpr double kWidest = 12.0;

std::string colour_of(Medium medium) {
  switch (medium) {
    case Medium::nvlink:
      return "#2e7d32";
    case Medium::pcie:
      return "#1565c0";
    case Medium::socket:
      return "#6a1b9a";
    case Medium::network:
      return "#c75b12";
    case Medium::storage:
      break;
  }
  return "#795548";
}

}  // namespace

Stroke Pens::of(const LinkKind& kind, int count) {
  // A link whose file states a rate of its own is a kind of its own here.
  auto row =
      std::find_if(rows_.begin(), rows_.end(), [&](const Row& each) { return each.kind == kind; });
  if (row == rows_.end()) {
    const auto before =
        static_cast<std::size_t>(std::count_if(rows_.begin(), rows_.end(), [&](const Row& each) {
          return each.kind.medium == kind.medium;
        }));
    const Stroke stroke{colour_of(kind.medium), 2.0,
                        std::string{kDashes.at(before % kDashes.size())}};
    row = rows_.insert(rows_.end(), {kind, stroke, 0});
  }
  row->links += count;
  Stroke stroke = row->stroke;
  stroke.width = std::min(kWidest, 1.5 + 1.2 * (count - 1));
  return stroke;
}

std::string fill_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::gpu:
      return "#c8e6c9";
    case DeviceKind::nvswitch:
      return "#81c784";
    case DeviceKind::pcie_switch:
      return "#bbdefb";
    case DeviceKind::pcie_root:
      return "#e3f2fd";
    case DeviceKind::cpu:
      return "#e1bee7";
    case DeviceKind::nic:
      return "#ffe0b2";
    case DeviceKind::storage:
      break;
  }
  return "#d7ccc8";
}

}  // namespace trainyard::topology::drawing
