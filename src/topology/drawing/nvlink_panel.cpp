// NVLink of a node.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "topology/drawing/panels.hpp"

namespace trainyard::topology::drawing {
namespace {

constexpr Point kBox{56.0, 30.0};
constexpr double kPitch = 76.0;    ///< of boxes in a row
constexpr double kSquare = 190.0;  ///< side of a quad

bool is_direct(const NodeType& node, const Bundle& bundle) {
  return bundle.kind.medium == Medium::nvlink && node.kind_of(bundle.a) == DeviceKind::gpu &&
         node.kind_of(bundle.b) == DeviceKind::gpu;
}

int gpu_at(const NodeType& node, int vertex) {
  for (int i = 0; i < node.gpus(); ++i) {
    if (node.gpu(i).vertex == vertex) {
      return i;
    }
  }
  return -1;
}

/// Links between each pair of GPUs.
std::vector<std::vector<int>> direct_links(const NodeType& node) {
  const auto gpus = static_cast<std::size_t>(node.gpus());
  std::vector<std::vector<int>> links(gpus, std::vector<int>(gpus, 0));
  for (const Bundle& bundle : node.bundles()) {
    if (is_direct(node, bundle)) {
      const auto a = static_cast<std::size_t>(gpu_at(node, bundle.a));
      const auto b = static_cast<std::size_t>(gpu_at(node, bundle.b));
      links[a][b] = links[b][a] = bundle.count;
    }
  }
  return links;
}

void draw_gpu(Picture& picture, const NodeType& node, int gpu, Point at) {
  picture.box(at, kBox, fill_of(DeviceKind::gpu), node.gpu(gpu).name, node.gpu(gpu).gpu->name);
}

void draw_count(Picture& picture, Point at, int count) {
  if (count > 1) {
    picture.label(at, std::to_string(count));
  }
}

Point between(Point a, Point b, double share) {
  return {a.x + (b.x - a.x) * share, a.y + (b.y - a.y) * share};
}

// ---- GPUs linked directly ---------------------------------------------------------------------

using Places = std::vector<Point>;  ///< by GPU

/// Two squares; partners of the outer corners are joined by arcs, those of the inner ones straight.
Places cube_places(const CubeMesh& mesh) {
  Places places(8);
  const double left = kBox.x;
  const double top = 90.0;
  const double right = left + kSquare + 150.0;
  for (std::size_t i = 0; i < 4; ++i) {
    const double column = i % 2 == 0 ? 0.0 : kSquare;
    const double y = top + (i < 2 ? 0.0 : kSquare);
    places[static_cast<std::size_t>(mesh.left[i])] = {left + column, y};
    places[static_cast<std::size_t>(mesh.right[i])] = {right + kSquare - column, y};
  }
  return places;
}

Places circle_places(int gpus) {
  Places places;
  const double radius = std::max(110.0, kPitch * gpus / (2 * std::numbers::pi));
  // Half a step on: four make a square, two stand side by side.
  const double start = gpus == 2 ? std::numbers::pi : -std::numbers::pi * (0.5 + 1.0 / gpus);
  for (int i = 0; i < gpus; ++i) {
    const double angle = start + 2 * std::numbers::pi * i / gpus;
    const double height = gpus == 2 ? 0.0 : radius;
    places.push_back(
        {radius + kBox.x + radius * std::cos(angle), height + kBox.y + radius * std::sin(angle)});
  }
  return places;
}

Picture direct_panel(const NodeType& node, Pens& pens) {
  Picture picture;
  const CubeMesh mesh = find_cube_mesh(node);
  const bool cube = !mesh.left.empty();
  const Places places = cube ? cube_places(mesh) : circle_places(node.gpus());
  for (const Bundle& bundle : node.bundles()) {
    if (!is_direct(node, bundle)) {
      continue;
    }
    const Point a = places[static_cast<std::size_t>(gpu_at(node, bundle.a))];
    const Point b = places[static_cast<std::size_t>(gpu_at(node, bundle.b))];
    const Stroke stroke = pens.of(bundle.kind, bundle.count);
    if (cube && a.y == b.y && std::abs(a.x - b.x) > 2 * kSquare) {
      const double bend = (a.y < 180.0 ? -1.0 : 1.0) * 130.0;
      picture.curve(a, {(a.x + b.x) / 2, a.y + bend}, b, stroke);
      draw_count(picture, {(a.x + b.x) / 2, a.y + bend / 2}, bundle.count);
    } else {
      picture.line(a, b, stroke);
      // Off the middle, where diagonals cross.
      draw_count(picture, between(a, b, 0.36), bundle.count);
    }
  }
  for (int i = 0; i < node.gpus(); ++i) {
    draw_gpu(picture, node, i, places[static_cast<std::size_t>(i)]);
  }
  return picture;
}

// ---- GPUs on NVSwitches -----------------------------------------------------------------------

/// NVSwitches that share traffic, and the GPUs on them.
struct Plane {
  int vertex = -1;
  std::vector<std::string> switches{};
  std::vector<int> gpus{};
  Point centre{};
  Point size{};
};

std::vector<Plane> planes_of(const NodeType& node) {
  std::vector<Plane> planes;
  for (const Device& device : node.devices()) {
    if (device.kind != DeviceKind::nvswitch) {
      continue;
    }
    auto plane = std::find_if(planes.begin(), planes.end(),
                              [&](const Plane& each) { return each.vertex == device.vertex; });
    if (plane == planes.end()) {
      plane = planes.insert(planes.end(), {device.vertex, {}, {}, {}, {}});
    }
    plane->switches.push_back(device.name);
  }
  for (int gpu = 0; gpu < node.gpus(); ++gpu) {
    for (Plane& plane : planes) {
      const bool on_it =
          std::any_of(node.bundles().begin(), node.bundles().end(), [&](const Bundle& bundle) {
            const int vertex = node.gpu(gpu).vertex;
            return (bundle.a == vertex && bundle.b == plane.vertex) ||
                   (bundle.b == vertex && bundle.a == plane.vertex);
          });
      if (on_it) {
        plane.gpus.push_back(gpu);
        break;
      }
    }
  }
  return planes;
}

class SwitchPanel {
 public:
  SwitchPanel(const NodeType& node, Pens& pens)
      : node_{node},
        pens_{pens},
        planes_{planes_of(node)},
        places_(static_cast<std::size_t>(node.gpus())) {}

  Picture draw() {
    const bool stacked = planes_.size() == 2;
    double x = 0.0;
    double y = 0.0;
    for (std::size_t i = 0; i < planes_.size(); ++i) {
      Plane& plane = planes_[i];
      // Two boards mirror each other, GPUs outside; else half of the GPUs above and half below.
      const std::size_t above =
          stacked ? (i == 0 ? plane.gpus.size() : 0) : (plane.gpus.size() + 1) / 2;
      arrange(plane, above, {x, y});
      y = stacked ? plane.centre.y + 40.0 : y;
      x = stacked ? x : x + plane.size.x + 60.0;
    }
    draw_links();
    for (const Plane& plane : planes_) {
      draw_plane(plane);
    }
    for (int i = 0; i < node_.gpus(); ++i) {
      if (places_[static_cast<std::size_t>(i)].x > 0.0) {
        draw_gpu(picture_, node_, i, places_[static_cast<std::size_t>(i)]);
      }
    }
    return std::move(picture_);
  }

 private:
  void arrange(Plane& plane, std::size_t above, Point corner) {
    const std::size_t below = plane.gpus.size() - above;
    const double columns = static_cast<double>(std::max({above, below, plane.switches.size()}));
    plane.size = {columns * kPitch + 16.0, 54.0};
    const double gpu_y = corner.y + kBox.y / 2 + 4.0;
    plane.centre = {corner.x + plane.size.x / 2, above > 0 ? gpu_y + 110.0 : gpu_y + 50.0};
    place_row(plane, 0, above, gpu_y);
    place_row(plane, above, plane.gpus.size(), plane.centre.y + 110.0);
  }

  void place_row(const Plane& plane, std::size_t begin, std::size_t end, double y) {
    const auto count = static_cast<double>(end - begin);
    for (std::size_t i = begin; i < end; ++i) {
      const double column = static_cast<double>(i - begin) - (count - 1) / 2;
      places_[static_cast<std::size_t>(plane.gpus[i])] = {plane.centre.x + column * kPitch, y};
    }
  }

  [[nodiscard]] const Plane* plane_at(int vertex) const {
    const auto found = std::find_if(planes_.begin(), planes_.end(),
                                    [&](const Plane& plane) { return plane.vertex == vertex; });
    return found == planes_.end() ? nullptr : &*found;
  }

  void draw_links() {
    for (const Bundle& bundle : node_.bundles()) {
      const Plane* const a = plane_at(bundle.a);
      const Plane* const b = plane_at(bundle.b);
      if (a != nullptr && b != nullptr) {
        draw_trunk(*a, *b, bundle);
      } else if (a != nullptr) {
        draw_port(gpu_at(node_, bundle.b), *a, bundle);
      } else if (b != nullptr) {
        draw_port(gpu_at(node_, bundle.a), *b, bundle);
      }
    }
  }

  void draw_port(int gpu, const Plane& plane, const Bundle& bundle) {
    if (gpu < 0) {
      return;
    }
    const Point at = places_[static_cast<std::size_t>(gpu)];
    const double side = at.y < plane.centre.y ? -1.0 : 1.0;
    const Point end{at.x, plane.centre.y + side * plane.size.y / 2};
    picture_.line(at, end, pens_.of(bundle.kind, bundle.count));
    draw_count(picture_, between(at, end, 0.62), bundle.count);
  }

  /// One line for each pair of facing switches, the number beside them.
  void draw_trunk(const Plane& a, const Plane& b, const Bundle& bundle) {
    const Stroke stroke = pens_.of(bundle.kind, bundle.count);
    const auto lanes = static_cast<int>(std::min(a.switches.size(), b.switches.size()));
    Stroke thin = stroke;
    thin.width = 1.5 + 0.5 * bundle.count / std::max(lanes, 1);
    for (int i = 0; i < lanes; ++i) {
      const double x = (i - (lanes - 1) / 2.0) * kPitch;
      picture_.line({a.centre.x + x, a.centre.y}, {b.centre.x + x, b.centre.y}, thin);
    }
    if (lanes > 0 && bundle.count % lanes == 0) {
      for (int i = 0; i < lanes; ++i) {
        const double x = (i - (lanes - 1) / 2.0) * kPitch;
        draw_count(picture_, {a.centre.x + x, (a.centre.y + b.centre.y) / 2}, bundle.count / lanes);
      }
    } else {
      draw_count(picture_, between(a.centre, b.centre, 0.5), bundle.count);
    }
  }

  void draw_plane(const Plane& plane) {
    picture_.frame(plane.centre, plane.size, "#f1f8e9");
    const auto count = static_cast<double>(plane.switches.size());
    const double pitch = std::min(kPitch, (plane.size.x - 16.0) / count);
    for (std::size_t i = 0; i < plane.switches.size(); ++i) {
      const double column = static_cast<double>(i) - (count - 1) / 2;
      // The number says enough: the name is in the hint.
      const std::string& name = plane.switches[i];
      const auto digits = name.find_last_not_of("0123456789");
      const std::string number = digits == std::string::npos ? name : name.substr(digits + 1);
      picture_.box({plane.centre.x + column * pitch, plane.centre.y}, {pitch - 12.0, 34.0},
                   fill_of(DeviceKind::nvswitch), "SW" + number, name);
    }
  }

  const NodeType& node_;
  Pens& pens_;
  std::vector<Plane> planes_;
  Places places_;
  Picture picture_{};
};

// ---- Cube meshes ------------------------------------------------------------------------------

using LinkTable = std::vector<std::vector<int>>;

bool are_linked(const LinkTable& links, int a, int b) {
  return links[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] > 0;
}

/// Four GPUs, each linked with each.
bool are_joined(const LinkTable& links, const std::vector<int>& quad) {
  return quad.size() == 4 && std::all_of(quad.begin(), quad.end(), [&](int a) {
           return std::all_of(quad.begin(), quad.end(),
                              [&](int b) { return a == b || are_linked(links, a, b); });
         });
}

/// Of each GPU of a quad the one GPU outside that it is linked to, all different; else empty.
std::vector<int> partners_of(const LinkTable& links, const std::vector<int>& quad) {
  std::vector<int> partners;
  for (const int a : quad) {
    for (int b = 0; b < static_cast<int>(links.size()); ++b) {
      const bool inside = std::find(quad.begin(), quad.end(), b) != quad.end();
      if (!inside && are_linked(links, a, b)) {
        if (std::find(partners.begin(), partners.end(), b) != partners.end()) {
          return {};
        }
        partners.push_back(b);
      }
    }
  }
  return partners.size() == quad.size() ? partners : std::vector<int>{};
}

}  // namespace

CubeMesh find_cube_mesh(const NodeType& node) {
  if (node.gpus() != 8) {
    return {};
  }
  const auto links = direct_links(node);
  // Every way to take GPU 0 and three others: the halves by number come first.
  for (unsigned mask = 0; mask < 128; ++mask) {
    CubeMesh mesh{{0}, {}};
    for (int i = 1; i < 8; ++i) {
      if ((mask >> static_cast<unsigned>(i - 1) & 1U) != 0) {
        mesh.left.push_back(i);
      }
    }
    if (mesh.left.size() == 4 && are_joined(links, mesh.left)) {
      mesh.right = partners_of(links, mesh.left);
      if (are_joined(links, mesh.right)) {
        return mesh;
      }
    }
  }
  return {};
}

Picture nvlink_panel(const NodeType& node, Pens& pens) {
  const auto& bundles = node.bundles();
  const bool switched = std::any_of(bundles.begin(), bundles.end(), [&](const Bundle& bundle) {
    return node.kind_of(bundle.a) == DeviceKind::nvswitch ||
           node.kind_of(bundle.b) == DeviceKind::nvswitch;
  });
  const bool direct = std::any_of(bundles.begin(), bundles.end(),
                                  [&](const Bundle& bundle) { return is_direct(node, bundle); });
  if (switched) {
    return SwitchPanel{node, pens}.draw();
  }
  return direct ? direct_panel(node, pens) : Picture{};
}

}  // namespace trainyard::topology::drawing
