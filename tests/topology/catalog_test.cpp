#include "topology/catalog.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <map>

#include "input/csv.hpp"
#include "support/shared.hpp"

using namespace trainyard;
using topology::Catalog;

namespace {

const input::Place kHere{"x.toml", 3, 4};

Catalog parse(const std::string& text) {
  return Catalog::parse({input::Document::parse(text, "c.toml")});
}

std::string link_with(const std::string& line) {
  return "[[link]]\nname = \"nv\"\nmedium = \"nvlink\"\n" + line;
}

/// "TITAN RTX" as the catalogue writes it; rows that are called otherwise there.
std::string our_name(std::string name) {
  static const std::map<std::string, std::string> kRenamed{
      {"V100-PCIE-16/32GB", "v100-pcie-32gb"}, {"H100-SXM5-80GB", "h100-sxm-80gb"},
      {"GH200 (H100 die)", "gh200"},           {"GB200 (per GPU)", "gb200"},
      {"TITAN X (Pascal)", "titan-x-pascal"},
  };
  if (const auto found = kRenamed.find(name); found != kRenamed.end()) {
    return found->second;
  }
  name = name.substr(0, name.find(" (chip)"));
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return name;
}

}  // namespace

TEST_CASE("a link kind has its figures per direction", "[catalog]") {
  const auto catalog =
      parse(link_with("bandwidth = \"25 GB/s\"\nefficiency = 0.9\nlatency = \"0.7 us\"\n"));
  const auto& link = catalog.link("nv", kHere);
  CHECK(link.bandwidth.si() == Approx(25e9));
  CHECK(link.efficiency == 0.9);
  CHECK(link.latency.si() == Approx(0.7e-6));
  CHECK(link.medium == topology::Medium::nvlink);
}

TEST_CASE("figures that are none are errors at their place", "[catalog]") {
  const auto [line, expected] = GENERATE(table<std::string, std::string>({
      {"bandwidth = \"0 GB/s\"\n", "c.toml:4:13: error: 'bandwidth' must be "},
      {"bandwidth = \"-3 GB/s\"\n", "c.toml:4:13: error: 'bandwidth' must be "},
      {"bandwidth = \"nan GB/s\"\n", "c.toml:4:13: error: 'bandwidth' must be "},
      {"bandwidth = nan\n", "c.toml:4:13: error: 'bandwidth' must be "},
      {"bandwidth = 25\n", "c.toml:4:13: error: 'bandwidth' must be "},
      {"bandwidth = \"25 GB/s\"\nlatency = \"1 us\"\nefficiency = 0.0\n",
       "c.toml:6:14: error: 'efficiency' must be a number from"},
      {"bandwidth = \"25 GB/s\"\nlatency = \"1 us\"\nefficiency = 1.5\n",
       "c.toml:6:14: error: 'efficiency' must be a number from"},
      {"bandwidth = \"25 GB/s\"\nlatency = \"-1 us\"\n", "c.toml:5:11: error: 'latency' must be "},
      {"bandwidth = \"25 GB/s\"\n", "c.toml:1:1: error: missing key 'latency'"},
      {"bandwith = \"25 GB/s\"\nbandwidth = \"25 GB/s\"\nlatency = \"1 us\"\n",
       "c.toml:4:1: error: unknown key 'bandwith' in [[link]], did you mean \"bandwidth\"?"},
  }));
  CAPTURE(line);
  REQUIRE_THROWS_WITH(parse(link_with(line)), Catch::StartsWith(expected));
}

TEST_CASE("names are unique, and known to whom they point", "[catalog]") {
  const std::string nv = link_with("bandwidth = \"25 GB/s\"\nlatency = \"1 us\"\n");
  const std::string gpu = "[[gpu]]\nname = \"g\"\narchitecture = \"volta\"\nmemory = \"1 GB\"\n";
  REQUIRE_THROWS_WITH(parse(nv + nv), Catch::Contains("\"nv\" is in the catalogue twice"));
  REQUIRE_THROWS_WITH(parse(gpu + gpu), Catch::Contains("\"g\" is in the catalogue twice"));
  REQUIRE_THROWS_WITH(parse(gpu + "nvlink = \"nw\"\n" + nv),
                      Catch::StartsWith("c.toml:5:10: error: unknown link kind \"nw\""));
  REQUIRE_THROWS_WITH(parse(gpu + "profiler_names = [\"G\"]\n" +
                            "[[gpu]]\nname = \"h\"\narchitecture = \"volta\"\nmemory = \"1 GB\"\n"
                            "profiler_names = [\"G\"]\n"),
                      Catch::Contains("\"G\" is a profiler's name of \"g\" too"));
  CHECK(parse(gpu + "nvlink = \"nv\"\n" + nv).gpus().size() == 1);
}

TEST_CASE("an unknown kind suggests the nearest", "[catalog]") {
  const auto catalog = Catalog::load();
  REQUIRE_THROWS_WITH(catalog.gpu("a100-sxm-40gb", kHere),
                      "x.toml:3:4: error: unknown GPU \"a100-sxm-40gb\", did you mean "
                      "\"a100-sxm4-40gb\"?");
  REQUIRE_THROWS_WITH(catalog.link("nvlink9", kHere),
                      Catch::StartsWith("x.toml:3:4: error: unknown link kind \"nvlink9\""));
  CHECK(catalog.find_gpu("no such card") == nullptr);
}

TEST_CASE("GPUs are found by the names that profilers print", "[catalog]") {
  const auto catalog = Catalog::load();
  const auto [printed, name, node] = GENERATE(table<std::string, std::string, std::string>({
      {"Tesla V100-SXM2-32GB", "v100-sxm2-32gb", "dgx-1-v100"},
      {"Tesla V100-DGXS-32GB", "v100-sxm2-32gb", "dgx-1-v100"},
      {"Tesla V100-SXM3-32GB", "v100-sxm3-32gb", "dgx-2"},
      {"NVIDIA A100-SXM4-40GB", "a100-sxm4-40gb", "dgx-a100-40gb"},
      {"NVIDIA A100-PG509-200", "a100-sxm4-40gb", "dgx-a100-40gb"},
      {"NVIDIA H100 80GB HBM3", "h100-sxm-80gb", "dgx-h100"},
      {"NVIDIA GeForce RTX 2080 Ti", "rtx-2080-ti", ""},
      {"AMD Instinct MI300X", "mi300x", ""},
  }));
  CAPTURE(printed);
  const auto* gpu = catalog.find_gpu(printed);
  REQUIRE(gpu != nullptr);
  CHECK(gpu->name == name);
  CHECK(gpu->usual_node == node);
  CHECK(catalog.find_gpu(name) == gpu);
}

TEST_CASE("launch floors are the measured ones where there are any", "[catalog]") {
  const auto catalog = Catalog::load();
  CHECK(catalog.gpu("h100-sxm-80gb", kHere).launch_floor.si() == Approx(5.1e-6));
  CHECK(catalog.gpu("mi300x", kHere).launch_floor.si() == Approx(6.5e-6));
  for (const auto& gpu : catalog.gpus()) {
    CHECK(gpu.launch_floor.si() > 0.0);
  }
}

TEST_CASE("consumer cards are not licensed for data centres", "[catalog]") {
  const auto catalog = Catalog::load();
  for (const auto& gpu : catalog.gpus()) {
    const bool consumer = gpu.name.starts_with("titan-") || gpu.name == "rtx-2080-ti" ||
                          gpu.name == "rtx-3060" || gpu.name == "rtx-3080" ||
                          gpu.name == "rtx-3090" || gpu.name == "rtx-4090" ||
                          gpu.name == "rtx-5090";
    CAPTURE(gpu.name);
    CHECK(gpu.data_center != consumer);
  }
}

TEST_CASE("GeForce and Titan from Turing on refuse PCIe peer copies", "[catalog]") {
  // p2p listings: Titan RTX, 2080 Ti, 3090-like and 4090 without; Titan V and K80 with.
  const auto catalog = Catalog::load();
  for (const auto& gpu : catalog.gpus()) {
    const bool older = gpu.architecture == "pascal" || gpu.architecture == "volta";
    CAPTURE(gpu.name);
    CHECK(gpu.peer_access == (gpu.data_center || older));
  }
}

TEST_CASE("a K80 is a card of two devices", "[catalog]") {
  const auto catalog = Catalog::load();
  const auto& card = catalog.gpu("k80", kHere);
  const auto* device = catalog.find_gpu("Tesla K80");  // profilers print it for each device
  REQUIRE(device != nullptr);
  CHECK(device->name == "k80-device");
  CHECK(device->memory.si() == Approx(card.memory.si() / 2));
  CHECK(device->memory_bandwidth.si() == Approx(card.memory_bandwidth.si() / 2));
  CHECK(device->flops.at("fp32") == Approx(card.flops.at("fp32") / 2));
}

TEST_CASE("network kinds say what carries their messages", "[catalog]") {
  const auto catalog = Catalog::load();
  for (const auto& link : catalog.links()) {
    CAPTURE(link.name);
    CHECK(link.transport.empty() == (link.medium != topology::Medium::network));
  }
  const std::string network =
      "[[link]]\nname = \"ib\"\nmedium = \"network\"\nbandwidth = \"1 GB/s\"\nlatency = \"1 us\"\n";
  REQUIRE_THROWS_WITH(parse(network), "c.toml:1:1: error: missing key 'transport' in [[link]]");
  REQUIRE_THROWS_WITH(parse(network + "transport = \"ip\"\n"),
                      "c.toml:6:13: error: 'transport' must be infiniband, roce, efa, tcpxo, tcp, "
                      "slingshot or ici, got \"ip\"");
  REQUIRE_THROWS_WITH(
      parse(link_with("bandwidth = \"25 GB/s\"\nlatency = \"1 us\"\ntransport = \"tcp\"\n")),
      Catch::StartsWith("c.toml:6:1: error: unknown key 'transport' in [[link]]"));
  const auto capped = parse(network + "transport = \"tcp\"\nflow_cap = \"10 Gb/s\"\n");
  CHECK(capped.link("ib", kHere).flow_cap->si() == Approx(1.25e9));
}

TEST_CASE("networks reach the measured share of line rate", "[catalog]") {
  // Published tables: tuned InfiniBand and RoCE 0.95 to 1.0, TCPXO 0.98, early EFA 0.68. Slingshot:
  // 0.84 with the collective's own losses, more without.
  const auto catalog = Catalog::load();
  const auto [name, gbits, low, high] = GENERATE(table<std::string, double, double, double>({
      {"ib-edr", 100, 0.95, 1.0},
      {"ib-hdr", 200, 0.95, 1.0},
      {"ib-ndr", 400, 0.95, 1.0},
      {"roce-25", 25, 0.95, 1.0},
      {"roce-100", 100, 0.95, 1.0},
      {"roce-200", 200, 0.95, 1.0},
      {"roce-400", 400, 0.95, 1.0},
      {"tcpxo-200", 200, 0.98, 0.98},
      {"slingshot-200", 200, 0.84, 1.0},
      {"efa-100-early", 100, 0.68, 0.68},
      {"ici-v2", 496, 1.0, 1.0},
      {"ici-v3", 656, 1.0, 1.0},
  }));
  CAPTURE(name);
  const auto& link = catalog.link(name, kHere);
  CHECK(link.bandwidth.si() == Approx(gbits * 1e9 / 8));
  CHECK(link.efficiency >= low);
  CHECK(link.efficiency <= high);
}

TEST_CASE("the catalogue has every device of the published table with its figures", "[catalog]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  const auto table = input::Csv::parse_file((*shared / "published/gpus.csv").string());
  const auto catalog = Catalog::load();
  // Not in the table: one device of a K80, the H20 and the RTX 5090.
  CHECK(catalog.gpus().size() == table.size() + 3);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto row = table.row(i);
    CAPTURE(row.text("gpu"));
    const auto& gpu = catalog.gpu(our_name(row.text("gpu")), kHere);
    const auto figure = [&](const char* column) {
      return row.has(column) ? row.number(column) : 0.0;
    };
    CHECK(gpu.memory.si() == Approx(figure("mem_gb") * 1e9));
    CHECK(gpu.memory_bandwidth.si() == Approx(figure("mem_bw_gbps") * 1e9));
    CHECK(gpu.tdp_watts == figure("tdp_w"));
    CHECK(gpu.idle_watts == figure("idle_w_approx"));
    const std::map<std::string, std::vector<const char*>> columns{
        {"fp64", {"fp64_tensor_tflops", "fp64_tflops"}},
        {"fp32", {"fp32_tflops"}},
        {"tf32", {"tf32_tensor_tflops"}},
        {"fp16", {"fp16_tensor_tflops", "fp16_nontensor_tflops"}},
        {"bf16", {"bf16_tensor_tflops"}},
        {"fp8", {"fp8_tensor_tflops"}},
        {"int8", {"int8_tops"}}};
    for (const auto& [precision, names] : columns) {
      double expected = 0.0;
      for (const char* name : names) {
        expected = expected > 0.0 ? expected : figure(name);
      }
      CAPTURE(precision);
      const auto rate = gpu.flops.find(precision);
      CHECK((rate == gpu.flops.end() ? 0.0 : rate->second) == Approx(expected * 1e12));
    }
    CHECK(gpu.mig_instances == (row.text("vendor") == "NVIDIA" ? figure("mig_max_instances") : 0));
    if (row.text("vendor") == "NVIDIA") {
      CHECK(gpu.nvlink_links == static_cast<int>(figure("nvlink_links")));
      if (gpu.nvlink_links > 0) {
        CHECK(catalog.link(gpu.nvlink, kHere).bandwidth.si() ==
              Approx(figure("nvlink_gbps_per_link_per_dir") * 1e9));
      }
    }
  }
}
