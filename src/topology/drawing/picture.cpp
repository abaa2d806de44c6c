#include "topology/drawing/picture.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace trainyard::topology::drawing {
namespace {

constexpr double kMargin = 16.0;

/// Adding 0 turns -0 into 0.
std::string number(double value) {
  std::string text = fmt::format("{:.1f}", value + 0.0);
  return text == "-0.0" ? "0.0" : text;
}

std::string style(const Stroke& stroke) {
  std::string text =
      fmt::format(R"(stroke="{}" stroke-width="{}")", stroke.colour, number(stroke.width));
  if (!stroke.dash.empty()) {
    text += fmt::format(R"( stroke-dasharray="{}")", stroke.dash);
  }
  return text;
}

std::string rectangle(Point centre, Point size, std::string_view rest) {
  return fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" {})",
                     number(centre.x - size.x / 2), number(centre.y - size.y / 2), number(size.x),
                     number(size.y), rest);
}

}  // namespace

void Picture::reach(Point at) {
  width_ = std::max(width_, at.x);
  height_ = std::max(height_, at.y);
}

void Picture::line(Point a, Point b, const Stroke& stroke) {
  reach(a);
  reach(b);
  lines_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" {}/>\n", number(a.x),
                        number(a.y), number(b.x), number(b.y), style(stroke));
}

void Picture::curve(Point a, Point control, Point b, const Stroke& stroke) {
  reach({(a.x + 2 * control.x + b.x) / 4, (a.y + 2 * control.y + b.y) / 4});
  lines_ += fmt::format("<path d=\"M {} {} Q {} {} {} {}\" fill=\"none\" {}/>\n", number(a.x),
                        number(a.y), number(control.x), number(control.y), number(b.x), number(b.y),
                        style(stroke));
}

void Picture::box(Point centre, Point size, std::string_view fill, std::string_view name,
                  std::string_view hint) {
  reach({centre.x + size.x / 2, centre.y + size.y / 2});
  const std::string title = hint.empty() ? "" : fmt::format("<title>{}</title>", escaped(hint));
  shapes_ +=
      rectangle(centre, size,
                fmt::format("rx=\"4\" fill=\"{}\" stroke=\"#333333\">{}</rect>\n", fill, title));
  text({centre.x, centre.y + 4}, name, 12.0, "middle");
}

void Picture::frame(Point centre, Point size, std::string_view fill) {
  reach({centre.x + size.x / 2, centre.y + size.y / 2});
  frames_ +=
      rectangle(centre, size, fmt::format("rx=\"8\" fill=\"{}\" stroke=\"#999999\"/>\n", fill));
}

void Picture::text(Point at, std::string_view text, double size, std::string_view anchor,
                   bool bold) {
  reach({at.x + (anchor == "start" ? text_width(text, size) : 0.0), at.y + size / 3});
  shapes_ += fmt::format(
      "<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"{}\"{}>{}</text>\n", number(at.x),
      number(at.y), number(size), anchor, bold ? " font-weight=\"bold\"" : "", escaped(text));
}

void Picture::label(Point at, std::string_view text) {
  shapes_ += rectangle(at, {text_width(text, 10.0) + 2, 12}, "rx=\"3\" fill=\"#ffffff\"/>\n");
  this->text({at.x, at.y + 3.5}, text, 10.0, "middle");
}

void Picture::place(const Picture& other, Point at) {
  const auto group = [&](const std::string& inside) {
    return inside.empty() ? ""
                          : fmt::format("<g transform=\"translate({} {})\">\n{}</g>\n",
                                        number(at.x), number(at.y), inside);
  };
  frames_ += group(other.frames_);
  lines_ += group(other.lines_);
  shapes_ += group(other.shapes_);
  reach({at.x + other.width_, at.y + other.height_});
}

std::string Picture::to_svg(std::string_view title) const {
  const std::string wide = number(width_ + kMargin);
  const std::string high = number(height_ + kMargin);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\">\n<title>{2}</title>\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n{3}{4}{5}</svg>\n",
      wide, high, escaped(title), frames_, lines_, shapes_);
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return result;
}

double text_width(std::string_view text, double size) {
  return 0.62 * size * static_cast<double>(text.size());
}

}  // namespace trainyard::topology::drawing
