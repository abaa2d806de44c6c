#pragma once

#include <vector>

#include "topology/cluster.hpp"

namespace trainyard::simulation {

/// A flow for folding: flows may only fold into one when their kinds are equal (same collective,
/// size and cap).
struct FoldableFlow {
  int kind = 0;
  std::vector<topology::LinkId> links{};  ///< contended links; a link twice counts twice
};

/// Flows that always run at the same rate, as one: `links` name one link of each class of links
/// that see the same load, as often as flows of this class cross it.
struct FoldedFlow {
  std::size_t representative = 0;  ///< index of the first flow of the class
  std::vector<topology::LinkId> links{};
};

struct Folding {
  std::vector<int> class_of{};        ///< by flow: index into `classes`
  std::vector<FoldedFlow> classes{};  ///< by representative, ascending
};

/// Folds flows by colour refinement of the flow-link graph. The result is an equitable partition,
/// and max-min rates are equal inside its classes: eight rails that meet the same rivals become one
/// flow, exactly. Holds for any subset of kinds that is active.
/// @param capacity  bytes/s by position in the sorted list of distinct links
[[nodiscard]] Folding fold(const std::vector<FoldableFlow>& flows,
                           const std::vector<topology::LinkId>& links,
                           const std::vector<double>& capacity);

}  // namespace trainyard::simulation
