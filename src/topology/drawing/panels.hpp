#pragma once

#include <string>
#include <utility>
#include <vector>

#include "topology/cluster_implementation.hpp"
#include "topology/drawing/picture.hpp"

namespace trainyard::topology::drawing {

/// Which pen each kind of link has: colour by medium, dashes tell kinds of one medium apart. Keeps
/// account of what was drawn, for the legend.
class Pens {
 public:
  /// @param count  parallel links; the line is the wider
  Stroke of(const LinkKind& kind, int count);

  struct Row {
    LinkKind kind{};
    Stroke stroke{};
    int links = 0;
  };
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }

 private:
  std::vector<Row> rows_{};
};

/// Colour of a device's box.
[[nodiscard]] std::string fill_of(DeviceKind kind);

// Each panel returns an empty picture (width 0) when it has nothing to show.

/// GPUs and NVSwitches: switches in a row between two rows of GPUs, a cube mesh as two squares, all
/// else in a circle.
[[nodiscard]] Picture nvlink_panel(const NodeType& node, Pens& pens);
/// CPUs at the top, what hangs on them below: PCIe switches, GPUs, NICs, storage.
[[nodiscard]] Picture host_panel(const NodeType& node, Pens& pens);
/// Switches by tier and the nodes below, alike ones in one box where there are too many; a torus as
/// a grid.
[[nodiscard]] Picture fabric_panel(const Cluster& cluster, Pens& pens);

/// For GPUs in a circle: positions of eight that form two fully linked quads with one link from
/// each GPU to its partner; empty when they do not. Two squares side by side, partners face to
/// face; first the corners of the left square.
struct CubeMesh {
  std::vector<int> left{};   ///< top left, top right, bottom left, bottom right
  std::vector<int> right{};  ///< the partners' order is mirrored: partner of left[i] is right[i]
};
[[nodiscard]] CubeMesh find_cube_mesh(const NodeType& node);

/// Columns of a fabric whose switches form a two-dimensional torus in row order; 0 when they do
/// not.
[[nodiscard]] int torus_columns(const Fabric& fabric);

}  // namespace trainyard::topology::drawing
