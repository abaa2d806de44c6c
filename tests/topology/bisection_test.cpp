#include <catch2/catch.hpp>

#include "topology/summary.hpp"
#include "topology/support.hpp"

using namespace trainyard;

TEST_CASE("the machines' bisections: 150 GB/s, 1.2 TB/s and 1.2 TB/s", "[bisection]") {
  // Six links between the quads; 48 trunk links between the boards; four ports of 12 links.
  const auto [name, expected] = GENERATE(table<std::string, double>(
      {{"dgx-1-v100", 6 * 25e9}, {"dgx-2", 48 * 25e9}, {"dgx-a100-40gb", 4 * 12 * 25e9}}));
  CHECK(topology::nvlink_bisection(topology::load_cluster(name), 0).si() == Approx(expected));
}

TEST_CASE("the worst way to halve counts, not the first", "[bisection]") {
  // A ring 0 - 1 - 3 - 2 - 0 with a double link between 0 and 1: cutting off {0, 1} costs two
  // links of 25 GB/s, {0, 2} three, {0, 3} all five.
  const auto node = test::parse(R"(
name = "ring"
[[gpu]]
name = "gpu{0..3}"
model = "card"
[[link]]
between = ["gpu0", "gpu1"]
kind = "nv"
count = 2
[[link]]
between = ["gpu1", "gpu3"]
kind = "nv"
[[link]]
between = ["gpu3", "gpu2"]
kind = "nv"
[[link]]
between = ["gpu2", "gpu0"]
kind = "nv"
)");
  CHECK(topology::nvlink_bisection(node, 0).si() == Approx(50e9));
}

TEST_CASE("without NVLink, or with one GPU, there is no NVLink bisection", "[bisection]") {
  const auto boxes = test::on_fabric(2, 3, "kind = \"single-switch\"");
  CHECK(topology::nvlink_bisection(boxes, 0).si() == 0.0);
  const auto one = test::parse("name = \"x\"\n[[gpu]]\nname = \"g\"\nmodel = \"card\"\n");
  CHECK(topology::nvlink_bisection(one, 0).si() == 0.0);
}

TEST_CASE("on one switch the NICs of the smaller half are the limit", "[bisection]") {
  // Five nodes of two NICs: two nodes against three.
  const auto cluster = test::on_fabric(5, 2, "kind = \"single-switch\"");
  CHECK(topology::fabric_demand(cluster).si() == Approx(4 * 10e9));
  CHECK(topology::fabric_bisection(cluster).si() == Approx(4 * 10e9));
}

TEST_CASE("a narrow trunk limits the fabric", "[bisection]") {
  const auto cluster = test::on_fabric(2, 2, R"(
kind = "custom"
[[fabric.switch]]
name = "{a,b}"
[[fabric.link]]
between = ["a", "b"]
kind = "ib-slow"
[[fabric.link]]
between = ["a", "node0/nic{0,1}"]
kind = "ib"
[[fabric.link]]
between = ["b", "node1/nic{0,1}"]
kind = "ib"
)");
  CHECK(topology::fabric_demand(cluster).si() == Approx(20e9));
  CHECK(topology::fabric_bisection(cluster).si() == Approx(5e9));
}
