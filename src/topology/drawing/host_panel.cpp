// PCIe tree, sockets, NICs and storage of a node.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "topology/drawing/panels.hpp"

namespace trainyard::topology::drawing {
namespace {

constexpr double kLevel = 74.0;
constexpr double kBoxHeight = 28.0;
constexpr double kGap = 10.0;
constexpr double kWidestPage = 1600.0;

class HostPanel {
 public:
  HostPanel(const NodeType& node, Pens& pens)
      : node_{node},
        pens_{pens},
        depth_(node.vertices().size(), -1),
        children_(node.vertices().size()),
        places_(node.vertices().size()) {}

  Picture draw() {
    find_trees();
    top_ = kBoxHeight / 2 + 2.0 + rise_of(widest_socket_link()) / 2;
    place_trees();
    draw_links();
    for (const Device& device : node_.devices()) {
      if (is_shown(device.vertex)) {
        const Point at = places_[static_cast<std::size_t>(device.vertex)];
        picture_.box(at, {width_of(device.vertex), kBoxHeight}, fill_of(device.kind), device.name,
                     hint_of(device));
      }
    }
    return std::move(picture_);
  }

 private:
  /// What carries host traffic: all but NVLink between GPUs and NVSwitches.
  [[nodiscard]] bool is_host_link(const Bundle& bundle) const {
    const auto is_cpu = [&](int vertex) { return node_.kind_of(vertex) == DeviceKind::cpu; };
    return bundle.kind.medium != Medium::nvlink || is_cpu(bundle.a) || is_cpu(bundle.b);
  }

  [[nodiscard]] bool is_shown(int vertex) const {
    return depth_[static_cast<std::size_t>(vertex)] >= 0 &&
           node_.kind_of(vertex) != DeviceKind::nvswitch;
  }

  /// Roots are the CPUs; without any, what is highest of the rest.
  void find_trees() {
    for (const DeviceKind kind :
         {DeviceKind::cpu, DeviceKind::pcie_root, DeviceKind::pcie_switch}) {
      for (int vertex = 0; vertex < static_cast<int>(node_.vertices().size()); ++vertex) {
        if (node_.kind_of(vertex) == kind && depth_[static_cast<std::size_t>(vertex)] < 0 &&
            (roots_.empty() || kind == DeviceKind::cpu)) {
          depth_[static_cast<std::size_t>(vertex)] = 0;
          roots_.push_back(vertex);
        }
      }
      grow();
    }
  }

  void grow() {
    for (std::vector<int> row = roots_; !row.empty();) {
      std::vector<int> next;
      for (const int vertex : row) {
        add_children(vertex, next);
      }
      row = std::move(next);
    }
  }

  void add_children(int vertex, std::vector<int>& next) {
    for (const Bundle& bundle : node_.bundles()) {
      const int other = bundle.a == vertex ? bundle.b : (bundle.b == vertex ? bundle.a : -1);
      if (other < 0 || !is_host_link(bundle) || depth_[static_cast<std::size_t>(other)] >= 0) {
        continue;
      }
      depth_[static_cast<std::size_t>(other)] = depth_[static_cast<std::size_t>(vertex)] + 1;
      children_[static_cast<std::size_t>(vertex)].push_back(other);
      next.push_back(other);
    }
  }

  [[nodiscard]] double width_of(int vertex) const {
    const std::string& name = node_.vertices()[static_cast<std::size_t>(vertex)];
    return std::max(44.0, text_width(name) + 8.0);
  }

  /// Beside each other; where the page ends, in a new band below.
  void place_trees() {
    double x = 0.0;
    for (const int root : roots_) {
      const double width = place(root, x);
      if (x > 0.0 && x + width > kWidestPage) {
        const auto deepest = std::max_element(depth_.begin(), depth_.end());
        top_ += kLevel * (*deepest + 1) + 2 * kGap;
        x = 0.0;
        place(root, x);
      }
      x += width + 2 * kGap;
    }
  }

  /// Places a subtree from x on; returns its width.
  double place(int vertex, double x) {
    double width = 0.0;
    for (const int child : children_[static_cast<std::size_t>(vertex)]) {
      width += place(child, x + width) + kGap;
    }
    width = std::max(width - kGap, width_of(vertex));
    const int depth = depth_[static_cast<std::size_t>(vertex)];
    places_[static_cast<std::size_t>(vertex)] = {x + width / 2, top_ + kLevel * depth};
    return width;
  }

  void draw_links() {
    for (const Bundle& bundle : node_.bundles()) {
      if (!is_host_link(bundle) || !is_shown(bundle.a) || !is_shown(bundle.b)) {
        continue;
      }
      const Point a = places_[static_cast<std::size_t>(bundle.a)];
      const Point b = places_[static_cast<std::size_t>(bundle.b)];
      const Stroke stroke = pens_.of(bundle.kind, bundle.count);
      Point middle{(a.x + b.x) / 2, (a.y + b.y) / 2};
      if (a.y == b.y && between(bundle.a, bundle.b) > 1) {
        const double rise = rise_of(between(bundle.a, bundle.b));
        picture_.curve(a, {middle.x, a.y - rise}, b, stroke);
        middle.y -= rise / 2;
      } else {
        picture_.line(a, b, stroke);
      }
      if (bundle.count > 1) {
        picture_.label(middle, std::to_string(bundle.count));
      }
    }
  }

  /// Of the point that an arc over several CPUs bends towards.
  static double rise_of(int steps) { return steps > 1 ? 24.0 + 28.0 * steps : 0.0; }

  [[nodiscard]] int widest_socket_link() const {
    int widest = 0;
    for (const Bundle& bundle : node_.bundles()) {
      const bool sockets =
          node_.kind_of(bundle.a) == DeviceKind::cpu && node_.kind_of(bundle.b) == DeviceKind::cpu;
      widest = std::max(widest, sockets ? between(bundle.a, bundle.b) : 0);
    }
    return widest;
  }

  /// Steps between two roots.
  [[nodiscard]] int between(int a, int b) const {
    const auto at = [&](int vertex) {
      return std::find(roots_.begin(), roots_.end(), vertex) - roots_.begin();
    };
    return static_cast<int>(std::abs(at(a) - at(b)));
  }

  [[nodiscard]] static std::string hint_of(const Device& device) {
    if (device.gpu != nullptr) {
      return device.gpu->name;
    }
    return device.cable != nullptr ? device.cable->name : "";
  }

  const NodeType& node_;
  Pens& pens_;
  std::vector<int> depth_;  ///< by vertex; -1: not reached
  std::vector<std::vector<int>> children_;
  std::vector<Point> places_;
  std::vector<int> roots_{};
  double top_ = 0.0;
  Picture picture_{};
};

}  // namespace

Picture host_panel(const NodeType& node, Pens& pens) {
  return HostPanel{node, pens}.draw();
}

}  // namespace trainyard::topology::drawing
