#include "topology/import_support.hpp"

#include "topology/summary.hpp"

namespace trainyard::test {

std::vector<std::vector<std::string>> classes_of(const topology::Cluster& cluster) {
  const int gpus = cluster.gpus();
  const int nics = static_cast<int>(cluster.nics(0).size());
  std::vector<std::vector<std::string>> rows;
  for (int a = 0; a < gpus + nics; ++a) {
    auto& row = rows.emplace_back();
    for (int b = 0; b < gpus + nics; ++b) {
      if (a < gpus && b < gpus) {
        row.push_back(cluster.pair_class(a, b));
      } else if (a >= gpus && b >= gpus) {
        row.push_back(topology::nic_pair_class(cluster, 0, a - gpus, b - gpus));
      } else {
        row.push_back(topology::nic_class(cluster, std::min(a, b), std::max(a, b) - gpus));
      }
    }
  }
  return rows;
}

}  // namespace trainyard::test
