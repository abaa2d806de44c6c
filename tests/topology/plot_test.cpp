// Pictures: what they must show, counted in the SVG text.
#include "topology/drawing/plot.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "topology/drawing/panels.hpp"
#include "topology/support.hpp"

using namespace trainyard;
using namespace trainyard::topology::drawing;

namespace {

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

/// Every tag closes, nothing is left open; text holds no bare '<' or '&'.
bool is_well_formed(const std::string& svg) {
  std::vector<std::string> open;
  for (auto at = svg.find('<'); at != std::string::npos; at = svg.find('<', at + 1)) {
    const auto end = svg.find('>', at);
    const std::string tag = svg.substr(at + 1, end - at - 1);
    if (end == std::string::npos || tag.find('<') != std::string::npos) {
      return false;
    }
    const std::string name =
        tag.substr(tag[0] == '/' ? 1 : 0, tag.find_first_of(" /", 1) - (tag[0] == '/' ? 1 : 0));
    if (tag[0] == '/') {
      if (open.empty() || open.back() != name) {
        return false;
      }
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
  }
  return open.empty();
}

topology::Cluster load(const char* name) {
  return topology::load_cluster(name);
}

const topology::NodeType& node_of(const topology::Cluster& cluster) {
  return *cluster.implementation().types[0];
}

std::string with_torus(int columns, int rows) {
  std::string fabric = "kind = \"custom\"\n[[fabric.switch]]\nname = \"chip{0.." +
                       std::to_string(columns * rows - 1) + "}\"\n";
  const auto link = [&](const std::string& a, const std::string& b) {
    fabric += "[[fabric.link]]\nbetween = [\"" + a + "\", \"" + b + "\"]\nkind = \"ib\"\n";
  };
  for (int i = 0; i < columns * rows; ++i) {
    const int row = i / columns * columns;
    link("node" + std::to_string(i) + "/nic0", "chip" + std::to_string(i));
    link("chip" + std::to_string(i), "chip" + std::to_string(row + (i + 1) % columns));
    link("chip" + std::to_string(i), "chip" + std::to_string((i + columns) % (columns * rows)));
  }
  return fabric;
}

}  // namespace

TEST_CASE("text in pictures is escaped", "[plot]") {
  CHECK(escaped("a<b>&\"c'") == "a&lt;b&gt;&amp;&quot;c&#39;");
  CHECK(escaped("a\nb\x01") == "a?b?");
  Picture picture;
  picture.box({10, 10}, {20, 10}, "#ffffff", "<gpu>", "a & b");
  const std::string svg = picture.to_svg("x < y");
  CHECK(is_well_formed(svg));
  CHECK_THAT(svg, Catch::Contains("&lt;gpu&gt;") && Catch::Contains("<title>a &amp; b</title>") &&
                      Catch::Contains("<title>x &lt; y</title>"));
}

TEST_CASE("a picture is as large as what is in it", "[plot]") {
  Picture picture;
  CHECK(picture.width() == 0.0);
  picture.line({10, 20}, {110, 50}, {});
  CHECK(picture.width() == Approx(110.0));
  CHECK(picture.height() == Approx(50.0));
  Picture page;
  page.place(picture, {5, 7});
  CHECK(page.width() == Approx(115.0));
  CHECK(page.height() == Approx(57.0));
  CHECK_THAT(page.to_svg("t"), Catch::Contains("translate(5.0 7.0)"));
}

TEST_CASE("frames lie under lines, lines under boxes", "[plot]") {
  Picture picture;
  picture.box({1, 1}, {2, 2}, "#111111", "box");
  picture.line({0, 0}, {1, 1}, {"#222222", 1.0, "2 2"});
  picture.frame({1, 1}, {9, 9}, "#333333");
  const std::string svg = picture.to_svg("t");
  CHECK(svg.find("#333333\" stroke") < svg.find("#222222"));
  CHECK(svg.find("#222222") < svg.find("#111111"));
  CHECK_THAT(svg, Catch::Contains("stroke-dasharray=\"2 2\""));
}

TEST_CASE("no coordinate is minus zero", "[plot]") {
  Picture picture;
  picture.line({-0.0, -0.04}, {1, 1}, {});
  CHECK_THAT(picture.to_svg("t"), Catch::Contains("x1=\"0.0\" y1=\"0.0\""));
}

TEST_CASE("pens tell media by colour, kinds by dashes, counts by width", "[plot]") {
  Pens pens;
  const topology::LinkKind nv1{
      "nv1", topology::Medium::nvlink, units::BytesPerSecond{1e9}, 1.0, {}};
  const topology::LinkKind nv2{
      "nv2", topology::Medium::nvlink, units::BytesPerSecond{2e9}, 1.0, {}};
  const topology::LinkKind pci{"pci", topology::Medium::pcie, units::BytesPerSecond{1e9}, 1.0, {}};
  const Stroke one = pens.of(nv1, 1);
  const Stroke two = pens.of(nv2, 1);
  const Stroke other = pens.of(pci, 1);
  CHECK(one.colour == two.colour);
  CHECK(one.dash != two.dash);
  CHECK(one.colour != other.colour);
  CHECK(pens.of(nv1, 3).width > one.width);
  CHECK(pens.of(nv1, 100).width == pens.of(nv1, 1000).width);  // bounded
  REQUIRE(pens.rows().size() == 3);
  CHECK(pens.rows()[0].links == 1 + 3 + 100 + 1000);
}

TEST_CASE("a DGX-1 is a cube mesh: two quads, partners face to face", "[plot]") {
  const auto dgx = load("dgx-1-v100");
  const CubeMesh mesh = find_cube_mesh(node_of(dgx));
  CHECK(mesh.left == std::vector<int>{0, 1, 2, 3});
  CHECK(mesh.right == std::vector<int>{4, 5, 6, 7});  // 0-4 1-5 2-6 3-7
  CHECK(find_cube_mesh(node_of(load("dgx-2"))).left.empty());
  CHECK(find_cube_mesh(node_of(load("dgx-a100-40gb"))).left.empty());
}

TEST_CASE("the cube mesh is found under another numbering", "[plot]") {
  // Quads 0 2 4 6 and 1 3 5 7, partners 0-1 2-3 4-5 6-7.
  std::string text = "name = \"cube\"\n[[gpu]]\nname = \"gpu{0..7}\"\nmodel = \"card\"\n";
  const auto link = [&](int a, int b) {
    text += "[[link]]\nbetween = [\"gpu" + std::to_string(a) + "\", \"gpu" + std::to_string(b) +
            "\"]\nkind = \"nv\"\n";
  };
  for (int a = 0; a < 8; ++a) {
    for (int b = a + 1; b < 8; ++b) {
      if (a % 2 == b % 2 || (a % 2 == 0 && b == a + 1)) {
        link(a, b);
      }
    }
  }
  const CubeMesh mesh = find_cube_mesh(node_of(test::parse(text)));
  CHECK(mesh.left == std::vector<int>{0, 2, 4, 6});
  CHECK(mesh.right == std::vector<int>{1, 3, 5, 7});
}

TEST_CASE("the DGX-1's picture has every link, two of them as arcs", "[plot]") {
  const auto dgx = load("dgx-1-v100");
  Pens pens;
  const std::string svg = nvlink_panel(node_of(dgx), pens).to_svg("t");
  // 16 linked pairs; 0-4 and 2-6 go around. 8 pairs have two links.
  CHECK(count(svg, "<line") == 14);
  CHECK(count(svg, "<path") == 2);
  CHECK(count(svg, ">2</text>") == 8);
  CHECK(count(svg, ">gpu") == 8);
  REQUIRE(pens.rows().size() == 1);
  CHECK(pens.rows()[0].links == 24);
}

TEST_CASE("the DGX-2's picture has two rows of six switches and the trunks between", "[plot]") {
  Pens pens;
  const std::string svg = nvlink_panel(node_of(load("dgx-2")), pens).to_svg("t");
  CHECK(count(svg, ">SW") == 12);
  CHECK(count(svg, ">gpu") == 16);
  // 16 ports of 6 links, 6 trunks of 8.
  CHECK(count(svg, "<line") == 22);
  CHECK(count(svg, ">6</text>") == 16);
  CHECK(count(svg, ">8</text>") == 6);
}

TEST_CASE("the DGX A100's picture has six switches between its GPUs", "[plot]") {
  Pens pens;
  const std::string svg = nvlink_panel(node_of(load("dgx-a100-40gb")), pens).to_svg("t");
  CHECK(count(svg, ">SW") == 6);
  CHECK(count(svg, ">12</text>") == 8);
  CHECK(count(svg, "<line") == 8);
}

TEST_CASE("a node without NVLink has no NVLink panel", "[plot]") {
  const auto node = test::parse(
      "name = \"n\"\n[[gpu]]\nname = \"gpu{0..1}\"\nmodel = \"game-card\"\n[[cpu]]\nname = "
      "\"cpu\"\n[[link]]\nbetween = [\"cpu\", \"gpu{0..1}\"]\nkind = \"pci\"\n");
  Pens pens;
  CHECK(nvlink_panel(node_of(node), pens).width() == 0.0);
  const std::string svg = topology::plot_svg(node);
  CHECK_THAT(svg, !Catch::Contains("NVLink"));
  CHECK_THAT(svg, Catch::Contains("PCIe and sockets"));
}

TEST_CASE("the PCIe panel draws every host link once", "[plot]") {
  Pens pens;
  const std::string svg = host_panel(node_of(load("dgx-1-v100")), pens).to_svg("t");
  // 8 GPUs, 4 NICs, 4 switches, a volume and the socket link.
  CHECK(count(svg, "<line") == 8 + 4 + 4 + 1 + 1);
  for (const char* name : {"cpu0", "cpu1", "plx3", "mlx5_2", "raid", "gpu7"}) {
    CHECK(count(svg, ">" + std::string{name} + "</text>") == 1);
  }
}

TEST_CASE("a node without CPUs hangs on its switches", "[plot]") {
  const auto node = test::parse(
      "name = \"n\"\n[[gpu]]\nname = \"gpu{0..1}\"\nmodel = \"game-card\"\n[[pcie_switch]]\nname "
      "= \"plx\"\n[[link]]\nbetween = [\"plx\", \"gpu{0..1}\"]\nkind = \"pci\"\n");
  Pens pens;
  const std::string svg = host_panel(node_of(node), pens).to_svg("t");
  CHECK(count(svg, "<line") == 2);
  CHECK(count(svg, ">plx</text>") == 1);
}

TEST_CASE("a fat tree's picture has its tiers", "[plot]") {
  Pens pens;
  const std::string svg = fabric_panel(load("fat-tree-dgx-1-16"), pens).to_svg("t");
  CHECK(count(svg, ">spine") == 2);
  CHECK(count(svg, ">leaf") == 4);
  CHECK(count(svg, ">node") == 16);
  // 4 leaves x 2 spines, nine cables each.
  CHECK(count(svg, ">9</text>") == 8);
}

TEST_CASE("a rail fat tree's picture joins each node with each leaf", "[plot]") {
  Pens pens;
  const std::string svg = fabric_panel(load("superpod-a100-1su"), pens).to_svg("t");
  CHECK(count(svg, "<line") == 4 * 8 + 8 * 20);
  REQUIRE(pens.rows().size() == 1);
  CHECK(pens.rows()[0].kind.name == "ib-hdr");
}

TEST_CASE("many nodes and switches share boxes, and none is lost", "[plot]") {
  // 200 nodes on leaves of ten ports down and ten up.
  const auto cluster =
      test::on_fabric(200, 1, "kind = \"fat-tree\"\nlink = \"ib\"\nleaf_ports = 20\n");
  Pens pens;
  const std::string svg = fabric_panel(cluster, pens).to_svg("t");
  CHECK(count(svg, "<rect") < 150);
  int nodes = 0;
  for (auto at = svg.find(" x "); at != std::string::npos; at = svg.find(" x ", at + 1)) {
    const auto begin = svg.rfind('>', at) + 1;
    if (svg.compare(at + 3, 3, "box") == 0) {
      nodes += std::stoi(svg.substr(begin, at - begin));
    }
  }
  CHECK(nodes == 200);
  CHECK(is_well_formed(svg));
}

TEST_CASE("a torus is drawn as a grid", "[plot]") {
  const auto torus = test::on_fabric(12, 1, with_torus(4, 3));
  CHECK(torus_columns(torus.implementation().fabric) == 4);
  Pens pens;
  const std::string svg = fabric_panel(torus, pens).to_svg("t");
  // 24 links, of which 3 + 4 close rings and have two ends each.
  CHECK(count(svg, "<line") == 24 + 7);
  CHECK(count(svg, "<rect") == 1 + 12);
  CHECK(torus_columns(load("fat-tree-dgx-1-16").implementation().fabric) == 0);
  CHECK(torus_columns(load("superpod-a100-1su").implementation().fabric) == 0);
}

TEST_CASE("pictures of the shipped topologies are well formed and the same twice", "[plot]") {
  for (const char* name : {"dgx-1-v100", "dgx-2", "dgx-a100-40gb", "dgx-1-x2", "fat-tree-dgx-1-16",
                           "superpod-a100-1su"}) {
    CAPTURE(name);
    const std::string svg = topology::plot_svg(load(name));
    CHECK(is_well_formed(svg));
    CHECK(svg == topology::plot_svg(load(name)));
    CHECK_THAT(svg, Catch::StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    CHECK_THAT(svg, !Catch::Contains("nan") && !Catch::Contains("inf\""));
  }
}

TEST_CASE("the legend has each kind with its rates", "[plot]") {
  const std::string svg = topology::plot_svg(load("dgx-1-x2"));
  // Raw, and at the catalogue's share: 25 x 0.904; 100 Gb/s x 0.95.
  CHECK_THAT(svg, Catch::Contains("nvlink2: 25 GB/s a direction and link, 22.6 GB/s for bulk"));
  CHECK_THAT(svg, Catch::Contains("ib-edr: 12.5 GB/s a direction and link"));
  CHECK_THAT(svg, Catch::Contains("Fabric: single-switch, 2 nodes, 1 switches"));
}

TEST_CASE("a hostile name cannot leave its text", "[plot]") {
  const auto node = test::parse(
      "name = \"</title><script>alert(1)</script>\"\n[[gpu]]\nname = \"<b>&\"\nmodel = "
      "\"game-card\"\n[[cpu]]\nname = \"cpu\"\n[[link]]\nbetween = [\"cpu\", \"<b>&\"]\nkind = "
      "\"pci\"\n");
  const std::string svg = topology::plot_svg(node);
  CHECK_THAT(svg, !Catch::Contains("<script") && !Catch::Contains("<b>"));
  CHECK(is_well_formed(svg));
}
