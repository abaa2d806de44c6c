// The eight public NCCL files: what comes out is compared with a second reading of the XML.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>

#include "input/files.hpp"
#include "support/shared.hpp"
#include "topology/import_support.hpp"
#include "topology/summary.hpp"

using namespace trainyard;

namespace {

/// A GPU or NIC port with what is above it, nearest first; the last is the CPU.
struct Part {
  std::string order{};
  std::vector<std::string> above{};
};

std::string attribute(const std::string& tag, const std::string& name) {
  const auto at = tag.find(" " + name + "=\"");
  if (at == std::string::npos) {
    return "";
  }
  const auto begin = at + name.size() + 3;
  return tag.substr(begin, tag.find('"', begin) - begin);
}

/// Reads the file tag by tag; knows nothing of the importer.
struct Scan {
  std::vector<Part> gpus{};
  std::vector<Part> nics{};
  int switches = 0;
  int cpus = 0;

  explicit Scan(const std::string& text) {
    std::vector<std::string> stack;
    for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
      if (text.compare(at, 4, "<!--") == 0) {
        at = text.find("-->", at);
        continue;
      }
      const std::string tag = text.substr(at, text.find('>', at) - at);
      if (tag[1] == '/') {
        stack.pop_back();
        continue;
      }
      open(tag, stack);
      if (tag.back() != '/') {
        stack.push_back(attribute(tag, "busid").empty() ? "#" + std::to_string(at)
                                                        : attribute(tag, "busid"));
      }
    }
    const auto by_order = [](const Part& a, const Part& b) { return a.order < b.order; };
    std::stable_sort(gpus.begin(), gpus.end(), by_order);
    std::stable_sort(nics.begin(), nics.end(), by_order);
  }

  void open(const std::string& tag, const std::vector<std::string>& stack) {
    const std::string kind = attribute(tag, "class");
    cpus += tag.starts_with("<cpu") ? 1 : 0;
    switches += kind.starts_with("0x0604") ? 1 : 0;
    Part part{attribute(tag, "busid"), {stack.rbegin(), stack.rend() - (stack.empty() ? 0 : 1)}};
    if (kind.starts_with("0x03")) {
      gpus.push_back(part);
    } else if (kind.starts_with("0x02")) {
      nics.push_back(part);
    } else if (tag.starts_with("<net")) {
      add_port(tag, stack);
    }
  }

  /// The first port of a card is counted with its PCIe function; each further one, and the port of
  /// a card without one, is a NIC more.
  void add_port(const std::string& tag, const std::vector<std::string>& stack) {
    const std::string card = stack[stack.size() - 2];
    if (card[0] == '#') {
      nics.push_back({card, {card}});
    } else if (attribute(tag, "port") != "1") {
      nics.push_back(nics.back());
    }
  }
};

/// By the part that both are below.
std::string class_of(const Part& a, const Part& b) {
  for (std::size_t i = 0; i < a.above.size(); ++i) {
    const auto same = std::find(b.above.begin(), b.above.end(), a.above[i]);
    if (same == b.above.end()) {
      continue;
    }
    if (same + 1 == b.above.end()) {
      return "PHB";  // the CPU
    }
    const auto crossed = i + 1 + static_cast<std::size_t>(same - b.above.begin());
    return crossed > 1 ? "PXB" : "PIX";
  }
  return "SYS";
}

const std::vector<std::string> kFiles{"aws-p4d-8xA100-40GB",
                                      "aws-p4de-8xA100-80GB",
                                      "azure-ncads-a100v4-4xA100-pcie",
                                      "azure-ndv2-8xV100",
                                      "azure-ndv4-8xA100",
                                      "azure-ndv5-8xH100",
                                      "dgx-a100-8xA100-nic-affinity",
                                      "oci-bm-gpu-h100-8xH100"};

}  // namespace

TEST_CASE("the public NCCL files keep counts, tree and classes", "[import]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  for (const std::string& file : kFiles) {
    CAPTURE(file);
    const std::string text = input::read_file(*shared / "nccl-topologies" / (file + ".xml"));
    const auto imported = test::import_text(text, {.name = file});
    const auto node = test::load(imported);
    const Scan scan{text};
    REQUIRE(node.gpus() == static_cast<int>(scan.gpus.size()));
    REQUIRE(node.nics(0).size() == scan.nics.size());
    std::map<std::string, int> count;
    for (const auto& group : topology::devices_of(node, 0)) {
      count[group.kind] += group.count;
    }
    CHECK(count["pcie_switch"] == scan.switches);
    CHECK(count["cpu"] == scan.cpus);
    for (int a = 0; a < node.gpus(); ++a) {
      for (int b = 0; b < node.gpus(); ++b) {
        const std::string found = node.pair_class(a, b);
        if (a != b && !found.starts_with("NV")) {
          CHECK(found == class_of(scan.gpus[static_cast<std::size_t>(a)],
                                  scan.gpus[static_cast<std::size_t>(b)]));
        }
      }
      for (int nic = 0; nic < static_cast<int>(scan.nics.size()); ++nic) {
        CHECK(topology::nic_class(node, a, nic) ==
              class_of(scan.gpus[static_cast<std::size_t>(a)],
                       scan.nics[static_cast<std::size_t>(nic)]));
      }
    }
  }
}

TEST_CASE("importing twice gives the same bytes, and they parse to themselves", "[import]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  for (const std::string& file : kFiles) {
    CAPTURE(file);
    const std::string text = input::read_file(*shared / "nccl-topologies" / (file + ".xml"));
    const auto once = test::import_text(text, {.name = file});
    CHECK(once.toml == test::import_text(text, {.name = file}).toml);
    const auto document = input::Document::parse(once.toml, "a.toml");
    const std::string canonical = document.to_toml();
    CHECK(input::Document::parse(canonical, "b.toml").to_toml() == canonical);
    const auto again =
        topology::parse_cluster(input::Document::parse(canonical, "b.toml"), test::full_catalog());
    CHECK(test::classes_of(again) == test::classes_of(test::load(once)));
  }
}

TEST_CASE("models and NVLink of the public NCCL files", "[import]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  struct Row {
    const char* gpu;
    const char* pair;  ///< class of GPUs 0 and 1
  };
  // In the order of kFiles; by PCI id, else by the CPU's PCIe. Only OCI's file has NVLink: 18
  // links.
  const std::vector<Row> rows{{"a100-sxm4-40gb", "PIX"}, {"a100-sxm4-80gb", "PIX"},
                              {"a100-pcie-80gb", "SYS"}, {"v100-sxm2-32gb", "PHB"},
                              {"a100-sxm4-40gb", "PIX"}, {"h100-sxm-80gb", "PHB"},
                              {"a100-sxm4-40gb", "PXB"}, {"h100-sxm-80gb", "NV18"}};
  for (std::size_t i = 0; i < kFiles.size(); ++i) {
    CAPTURE(kFiles[i]);
    const auto path = *shared / "nccl-topologies" / (kFiles[i] + ".xml");
    const auto imported = test::import_text(input::read_file(path), {.name = "x"});
    const auto node = test::load(imported);
    CHECK(node.gpu_kind(0).name == rows[i].gpu);
    CHECK(node.pair_class(0, 1) == rows[i].pair);
    CHECK(test::has_note(imported, "no NVLink") == (i + 1 < kFiles.size()));
  }
}

TEST_CASE("a public NCCL file that is cut anywhere is refused", "[import]") {
  const auto shared = test::shared_folder();
  if (!shared) {
    return;
  }
  const std::string text =
      input::read_file(*shared / "nccl-topologies" / "dgx-a100-8xA100-nic-affinity.xml");
  const std::size_t end = text.rfind("</system>");
  for (std::size_t size = 1; size < end + 8; size += 7) {
    CAPTURE(size);
    const std::string error = test::import_error(text.substr(0, size));
    CHECK_THAT(error, Catch::StartsWith("source") && Catch::Contains("error: "));
  }
}
