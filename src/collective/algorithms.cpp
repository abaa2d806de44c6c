#include "collective/algorithms.hpp"

namespace trainyard::collective {

const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> table{
      {"ring", &ring},   {"tree", &tree},   {"nvls", &nvls},         {"nvls-tree", &nvls_tree},
      {"sharp", &sharp}, {"torus", &torus}, {"pairwise", &pairwise},
  };
  return table;
}

bool is_pairwise(workload::CollectiveOp op) {
  using workload::CollectiveOp;
  return op == CollectiveOp::all_to_all || op == CollectiveOp::send_recv ||
         op == CollectiveOp::gather || op == CollectiveOp::scatter;
}

}  // namespace trainyard::collective
