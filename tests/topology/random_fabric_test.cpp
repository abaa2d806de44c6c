#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "topology/summary.hpp"
#include "topology/support.hpp"

using namespace trainyard;

namespace {

std::string random_tree(test::Random& random) {
  static constexpr const char* kRouting[] = {"static", "ecmp", "adaptive"};
  const bool rails = random.in(0, 1) == 1;
  return fmt::format(
      "kind = \"{}\"\nlink = \"ib\"\nleaf_ports = {}\noversubscription = {}\nrouting = \"{}\"\n",
      rails ? "rail-fat-tree" : "fat-tree", 2 * random.in(4, 12), random.in(1, 3),
      kRouting[random.in(0, 2)]);
}

}  // namespace

TEST_CASE("paths on random fat trees are walks, repeatable and as long as their hops", "[random]") {
  test::Random random{23};
  for (int round = 0; round < 25; ++round) {
    const std::string fabric = random_tree(random);
    const int nics = random.in(1, 4);
    const int nodes = random.in(2, 40);
    CAPTURE(fabric, nodes, nics);
    const auto cluster = test::on_fabric(nodes, nics, fabric);
    const auto again = test::on_fabric(nodes, nics, fabric);
    for (int pair = 0; pair < 40; ++pair) {
      const int from = random.in(0, nodes - 1);
      const int to = random.in(0, nodes - 1);
      const int out = random.in(0, nics - 1);
      const int in = random.in(0, nics - 1);
      const auto salt = static_cast<std::uint64_t>(pair);
      const auto path = cluster.nic_to_nic(from, out, to, in, salt);
      CHECK(test::is_walk(cluster, path, fmt::format("node{}/nic{}", from, out),
                          fmt::format("node{}/nic{}", to, in)));
      CHECK(path.links == again.nic_to_nic(from, out, to, in, salt).links);
      // Up and down: 1, 3 or 5 switches.
      CHECK(path.links.size() % 2 == 0);
      CHECK(path.links.size() <= 6);
      if (from != to) {
        const auto a = cluster.first_gpu(from) + out;
        const auto b = cluster.first_gpu(to) + in;
        const auto whole = cluster.path(a, b, salt);
        CHECK(test::is_walk(cluster, whole, cluster.gpu_name(a), cluster.gpu_name(b)));
        // Here each GPU has its own NIC two links away, and no NVLink leads to another.
        CHECK(cluster.switch_hops(a, b) == static_cast<int>(whole.links.size()) - 5);
      }
    }
  }
}

TEST_CASE("trees without oversubscription carry all that half the NICs send", "[random]") {
  test::Random random{31};
  for (int round = 0; round < 15; ++round) {
    const int ports = 2 * random.in(3, 10);
    const int nics = random.in(1, 3);
    const int nodes = random.in(2, 40);
    const bool rails = random.in(0, 1) == 1 && nodes * nics < ports * ports;
    const auto fabric = fmt::format("kind = \"{}\"\nlink = \"ib\"\nleaf_ports = {}\n",
                                    rails ? "rail-fat-tree" : "fat-tree", ports);
    CAPTURE(fabric, nodes, nics);
    if (test::fabric_error(nodes, nics, fabric) != "no error") {
      continue;  // more NICs than three tiers hold
    }
    const auto cluster = test::on_fabric(nodes, nics, fabric);
    CHECK(topology::fabric_bisection(cluster).si() ==
          Approx(topology::fabric_demand(cluster).si()));
  }
}
