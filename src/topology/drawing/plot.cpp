#include "topology/drawing/plot.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "topology/drawing/panels.hpp"
#include "topology/summary.hpp"
#include "units/text.hpp"

namespace trainyard::topology {
namespace {

using drawing::Pens;
using drawing::Picture;

constexpr double kLeft = 20.0;
constexpr double kGap = 36.0;

/// Panels below each other, each with a heading.
class Page {
 public:
  explicit Page(const std::string& title) { heading(title, 20.0); }

  void heading(const std::string& text, double size) {
    y_ += size + 8;
    picture_.text({kLeft, y_}, text, size, "start", true);
    y_ += 12;
  }

  void add(const std::string& title, const Picture& panel) {
    if (panel.width() > 0.0) {
      heading(title, 14.0);
      picture_.place(panel, {kLeft, y_});
      y_ += panel.height() + kGap / 2;
    }
  }

  [[nodiscard]] const Picture& picture() const { return picture_; }

 private:
  Picture picture_{};
  double y_ = 4.0;
};

Picture legend(const Pens& pens) {
  Picture picture;
  double y = 10.0;
  for (const Pens::Row& row : pens.rows()) {
    picture.line({0, y}, {40, y}, row.stroke);
    picture.text({52, y + 4},
                 fmt::format("{}: {} a direction and link, {} for bulk", row.kind.name,
                             units::to_text(row.kind.bandwidth),
                             units::to_text(row.kind.bandwidth * row.kind.efficiency)));
    y += 20.0;
  }
  if (!pens.rows().empty()) {
    picture.text({0, y + 4}, "Width and number of a line: parallel links.", 11.0);
  }
  return picture;
}

std::string gpus_of(const NodeType& node) {
  return fmt::format("{} x {}", node.gpus(), node.gpu(0).gpu->name);
}

}  // namespace

std::string plot_svg(const Cluster& cluster) {
  const Cluster::Implementation& made = cluster.implementation();
  Page page{cluster.name()};
  Pens pens;
  if (made.has_fabric) {
    page.add(fmt::format("Fabric: {}, {} nodes, {} switches", made.fabric.kind_name(),
                         cluster.nodes(), made.fabric.switches()),
             drawing::fabric_panel(cluster, pens));
  }
  for (const auto& type : made.types) {
    page.add(fmt::format("{}: {}, NVLink", type->name(), gpus_of(*type)),
             drawing::nvlink_panel(*type, pens));
    page.add(fmt::format("{}: {}, PCIe and sockets", type->name(), gpus_of(*type)),
             drawing::host_panel(*type, pens));
  }
  page.add("Links", legend(pens));
  return page.picture().to_svg(cluster.name());
}

}  // namespace trainyard::topology
