#include "scheduling/devices.hpp"

#include <catch2/catch.hpp>

namespace trainyard {
namespace {

using scheduling::Devices;

TEST_CASE("devices count what is free, per node and in all", "[devices]") {
  const auto cluster = topology::flat_cluster(3, 4);
  Devices devices{cluster};
  CHECK(devices.free() == 12);
  CHECK(devices.free_in(2) == 4);
  CHECK(devices.largest_node() == 4);
  CHECK(&devices.cluster() == &cluster);

  devices.take({1, 4, 7});
  CHECK(devices.free() == 9);
  CHECK(devices.free_in(0) == 3);
  CHECK(devices.free_in(1) == 2);
  CHECK_FALSE(devices.is_free(4));
  CHECK(devices.free_gpus(0) == std::vector{0, 2, 3});
  CHECK(devices.free_gpus(1) == std::vector{5, 6});
  CHECK(devices.free_gpus(2) == std::vector{8, 9, 10, 11});

  devices.give_back({4});
  CHECK(devices.free() == 10);
  CHECK(devices.free_gpus(1) == std::vector{4, 5, 6});
  CHECK(devices.largest_node() == 4);  // held GPUs count
}

TEST_CASE("a copy of devices is independent", "[devices]") {
  const auto cluster = topology::flat_cluster(1, 2);
  const Devices devices{cluster};
  Devices copy = devices;
  copy.take({0, 1});
  CHECK(copy.free() == 0);
  CHECK(devices.free() == 2);
}

}  // namespace
}  // namespace trainyard
