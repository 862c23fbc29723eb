#include "core/explore/plot.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/explore/plot_axis.h"
#include "core/text/svg.h"

namespace tutti::core {
namespace {

constexpr double kLegendRow = 18;

constexpr std::array<const char*, 7> kColours{
    palette::kBlue,   palette::kVermilion, palette::kGreen, palette::kPurple,
    palette::kOrange, palette::kSkyBlue,   palette::kBlack};
constexpr const char* kBound = "#777777";

/// Returns the smallest and the largest cost in the plot.
std::pair<double, double> costs_of(const Plot& plot) {
  double low = 0, high = 0;
  bool any = false;
  for (const Curve& curve : plot.curves) {
    for (const auto& y : curve.y) {
      if (!y) continue;
      low = any ? std::min(low, *y) : *y;
      high = any ? std::max(high, *y) : *y;
      any = true;
    }
  }
  return {low, high};
}

class Picture {
 public:
  Picture(const Plot& plot, const PlotLook& look)
      : plot_(plot),
        look_(look),
        right_(look.width - look.right),
        bottom_(look.height - look.bottom),
        x_(PlotAxis::of_values(plot.x, plot.bytes, look.x)) {
    const auto [low, high] = costs_of(plot);
    y_ = PlotAxis::of_costs(low, high, look.y);
  }

  std::string draw() {
    picture_.text(look_.left, 24, plot_.title, " font-size=\"15\"");
    grid();
    std::size_t colour = 0;
    std::vector<const char*> colours;
    for (const Curve& curve : plot_.curves)
      colours.push_back(curve.dashed ? kBound : kColours[colour++ % kColours.size()]);
    for (std::size_t c = 0; c < plot_.curves.size(); ++c) draw_curve(plot_.curves[c], colours[c]);
    if (plot_.best) draw_best(*plot_.best);
    const std::size_t rows = look_.legend ? (plot_.curves.size() + 3) / 4 : 0;
    if (look_.legend) legend(colours);
    return picture_.document(look_.width, look_.height + kLegendRow * static_cast<double>(rows));
  }

 private:
  /// across() and up() convert positions (0 … 1) along the x axis and the y axis to pixels.
  [[nodiscard]] double across(double place) const {
    return look_.left + place * (right_ - look_.left);
  }
  [[nodiscard]] double up(double place) const { return bottom_ - place * (bottom_ - look_.top); }

  void grid() {
    for (const PlotAxis::Tick& tick : y_.ticks()) {
      picture_.line(look_.left, up(tick.at), right_, up(tick.at), "#e5e5e5");
      picture_.text(look_.left - 6, up(tick.at) + 4, tick.text, " text-anchor=\"end\"");
    }
    double last = -1e9;
    std::vector<PlotAxis::Tick> ticks = x_.ticks();
    std::sort(ticks.begin(), ticks.end(),
              [](const PlotAxis::Tick& a, const PlotAxis::Tick& b) { return a.at < b.at; });
    for (const PlotAxis::Tick& tick : ticks) {
      const double at = across(tick.at);
      picture_.line(at, bottom_, at, bottom_ + 5, "#333333");
      const double width = 6.8 * static_cast<double>(tick.text.size());
      if (at - width / 2 < last + 4) continue;
      last = at + width / 2;
      picture_.text(at, bottom_ + 19, tick.text, " text-anchor=\"middle\"");
    }
    picture_.line(look_.left, bottom_, right_, bottom_, "#333333");
    picture_.line(look_.left, look_.top, look_.left, bottom_, "#333333");
    picture_.text((look_.left + right_) / 2, bottom_ + 42, plot_.x_title,
                  " text-anchor=\"middle\"");
    picture_.text(
        0, 0, plot_.y_title,
        fmt::format(" text-anchor=\"middle\" transform=\"translate(18,{:.1f}) rotate(-90)\"",
                    (look_.top + bottom_) / 2));
  }

  void draw_curve(const Curve& curve, const char* colour) {
    std::vector<std::pair<double, double>> dots;
    for (std::size_t i = 0; i < curve.y.size(); ++i) {
      if (curve.y[i]) dots.emplace_back(across(x_.place(i)), up(y_.at(*curve.y[i])));
    }
    std::sort(dots.begin(), dots.end());
    std::string points;
    for (const auto& [x, y] : dots) points += fmt::format("{:.1f},{:.1f} ", x, y);
    if (!curve.dots_alone)
      picture_.polyline(points, colour,
                        curve.dashed ? " stroke-width=\"1.6\" stroke-dasharray=\"6 4\""
                                     : " stroke-width=\"1.6\"");
    if (curve.dashed) return;
    const double radius = curve.dots_alone ? look_.dot : (dots.size() > 60 ? 1.4 : 2.4);
    for (const auto& [x, y] : dots) picture_.circle(x, y, radius, colour);
  }

  void draw_best(const Plot::Mark& best) {
    const auto& y = plot_.curves[best.curve].y[best.x];
    TUTTI_CHECK(y.has_value(), "the best point is unknown");
    const double at_x = across(x_.place(best.x)), at_y = up(y_.at(*y));
    picture_.circle(at_x, at_y, 7, "none", " stroke=\"#000000\" stroke-width=\"1.8\"");
    const bool on_right = at_x > (look_.left + look_.width) / 2;
    picture_.text(at_x + (on_right ? -4 : 4), at_y + 22, best.text,
                  on_right ? " text-anchor=\"end\"" : "");
  }

  void legend(const std::vector<const char*>& colours) {
    const double column = (right_ - look_.left) / 4;
    for (std::size_t c = 0; c < plot_.curves.size(); ++c) {
      const double x = look_.left + column * static_cast<double>(c % 4);
      const double y = look_.height + kLegendRow * static_cast<double>(c / 4) - 2;
      const Curve& curve = plot_.curves[c];
      if (curve.dots_alone) {
        picture_.circle(x + 11, y - 4, 4, colours[c]);
      } else {
        picture_.line(
            x, y - 4, x + 22, y - 4, colours[c],
            curve.dashed ? " stroke-width=\"2\" stroke-dasharray=\"6 4\"" : " stroke-width=\"2\"");
      }
      picture_.text(x + 28, y, curve.name);
    }
  }

  const Plot& plot_;
  const PlotLook& look_;
  double right_, bottom_;  ///< right and bottom ends of the axes, in pixels
  PlotAxis x_, y_;
  SvgPicture picture_;
};

}  // namespace

std::string show_binary(double bytes) {
  constexpr std::pair<double, const char*> kUnits[] = {
      {1073741824.0, "GiB"}, {1048576.0, "MiB"}, {1024.0, "KiB"}};
  for (const auto& [unit, name] : kUnits) {
    if (bytes >= unit) return fmt::format("{:.4g} {}", bytes / unit, name);
  }
  return fmt::format("{:g} B", bytes);
}

std::string to_svg(const Plot& plot, const PlotLook& look) {
  for (const Curve& curve : plot.curves)
    TUTTI_CHECK(curve.y.size() == plot.x.size(), "{} has {} of {} values", curve.name,
                curve.y.size(), plot.x.size());
  return Picture(plot, look).draw();
}

}  // namespace tutti::core
