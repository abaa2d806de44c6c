#include <catch2/catch.hpp>

#include "profile_builder.hpp"

using namespace trainyard;
using test::ProfileBuilder;
using units::Nanoseconds;

namespace {

Nanoseconds us(std::int64_t count) {
  return Nanoseconds{count * 1'000};
}

}  // namespace

TEST_CASE("the statistics of a rank, worked out by hand", "[statistics]") {
  // compute 10..30, communication 20..50, copy 60..65, fill (no launch) 70..71
  auto profile = ProfileBuilder{};
  profile.step(3, 0, 100)
      .call("cudaLaunchKernel", 5, 1, 1)
      .call("cudaLaunchKernel", 6, 1, 2)
      .call("cudaMemcpyAsync", 55, 1, 3)
      .kernel(10, 20, 1)
      .kernel(20, 30, 2, 20, "ncclKernel_AllReduce_RING_LL_Sum_float(X)")
      .copy(60, 5, 3, 7, "Memcpy HtoD (Pinned -> Device)", 4096)
      .raw(R"~({"ph":"X","cat":"gpu_memset","name":"Memset (Device)","ts":70,"dur":1,
               "args":{"device":0,"stream":7,"correlation":9,"bytes":512}})~");
  const auto devices = workload::statistics(profile.import());
  REQUIRE(devices.size() == 1);
  const auto& device = devices.front();
  CHECK(device.rank == 0);
  CHECK(device.n_kernels == 2);
  CHECK(device.n_comm == 1);
  CHECK(device.n_memcpy == 1);
  CHECK(device.n_memset == 1);
  CHECK(device.memcpy_bytes == 4096);
  CHECK(device.memset_bytes == 512);
  CHECK(device.kernel == us(50));
  CHECK(device.comm_kernel == us(30));
  CHECK(device.memcpy == us(5));
  CHECK(device.memset == us(1));
  CHECK(device.gpu_span == us(61));
  CHECK(device.busy == us(40 + 5 + 1));
  CHECK(device.idle == us(15));
  CHECK(device.compute_union == us(20));
  CHECK(device.comm_union == us(30));
  CHECK(device.overlap == us(10));
  CHECK(device.exposed_comm == us(20));
  CHECK(device.n_steps == 1);
  REQUIRE(device.step.size() == 1);
  CHECK(device.step.front() == us(100));
}

TEST_CASE("kernels that overlap on a stream count their union once", "[statistics]") {
  const auto devices =
      workload::statistics(ProfileBuilder{}.kernel(10, 20, 1).kernel(25, 10, 2).import());
  CHECK(devices.at(0).kernel == us(30));
  CHECK(devices.at(0).compute_union == us(25));
  CHECK(devices.at(0).busy == us(25));
  CHECK(devices.at(0).n_steps == 0);
}
