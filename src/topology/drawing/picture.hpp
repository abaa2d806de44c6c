#pragma once

#include <string>
#include <string_view>

namespace trainyard::topology::drawing {

struct Point {
  double x = 0.0;
  double y = 0.0;
};

struct Stroke {
  std::string colour = "#444444";
  double width = 1.5;
  std::string dash{};  ///< SVG's stroke-dasharray; "": solid
};

/// Shapes in pixels, as SVG. Numbers have one decimal: the same picture gives the same bytes.
/// Lines lie under boxes and text however the calls are ordered.
class Picture {
 public:
  void line(Point a, Point b, const Stroke& stroke);
  /// Quadratic, bent towards `control`.
  void curve(Point a, Point control, Point b, const Stroke& stroke);
  /// Its name in the middle; `hint` shows under a mouse.
  void box(Point centre, Point size, std::string_view fill, std::string_view name,
           std::string_view hint = "");
  /// A frame that holds others: under the lines.
  void frame(Point centre, Point size, std::string_view fill);
  /// @param anchor  "start", "middle" or "end"
  void text(Point at, std::string_view text, double size = 12.0, std::string_view anchor = "start",
            bool bold = false);
  /// Small, on a white ground, so that it can lie on a line.
  void label(Point at, std::string_view text);
  /// Puts another picture into this one, its origin at `at`.
  void place(const Picture& other, Point at);

  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] double height() const { return height_; }
  /// @param title  escaped here, as all text is
  [[nodiscard]] std::string to_svg(std::string_view title) const;

 private:
  void reach(Point at);

  std::string frames_{};
  std::string lines_{};
  std::string shapes_{};
  double width_ = 0.0;
  double height_ = 0.0;
};

/// & < > " ' as entities; control characters, which XML forbids, as '?'.
[[nodiscard]] std::string escaped(std::string_view text);
/// Pixels that a text of a size takes, generously.
[[nodiscard]] double text_width(std::string_view text, double size = 12.0);

}  // namespace trainyard::topology::drawing
