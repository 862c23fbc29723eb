#include "core/explore/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/text/number.h"
#include "core/text/shown.h"

namespace tutti::core {
namespace {

constexpr double kWidth = 860, kHeight = 480;
constexpr double kLeft = 74, kRight = 24, kTop = 44, kBottom = 58;
constexpr double kLegendRow = 18;
constexpr double kSlot = 52;  ///< of a value that is no number, left of those that are
/// Beyond this from end to end, values lie by their logarithms.
constexpr double kFarApart = 12;

// Colours that colour-blind eyes tell apart: Okabe & Ito, "Color Universal Design", 2008.
constexpr std::array<const char*, 7> kColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                              "#e69f00", "#56b4e9", "#000000"};
constexpr const char* kBound = "#777777";

/// 1, 2 or 5 times a power of ten, so that about `count` of it make up `range`.
double nice_step(double range, double count) {
  const double raw = range / count;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw * 0.999) return factor * power;
  }
  return 10 * power;
}

struct Tick {
  double at;
  std::string text;
};

/// Where the values of the axis lie, in the picture.
class Abscissa {
 public:
  explicit Abscissa(const Plot& plot) {
    double least = 0, most = 0, least_positive = 0;
    std::vector<std::optional<double>> numbers;
    std::size_t count = 0;
    for (const std::string& text : plot.x) {
      numbers.push_back(number_of(text));
      if (!numbers.back()) continue;
      const double value = *numbers.back();
      least = count == 0 ? value : std::min(least, value);
      most = count == 0 ? value : std::max(most, value);
      if (value > 0) least_positive = least_positive == 0 ? value : std::min(least_positive, value);
      ++count;
    }
    const bool logarithmic = least >= 0 && least_positive > 0 && most / least_positive >= kFarApart;
    const bool by_value = count >= 2 && most > (logarithmic ? least_positive : least) && count + 2 >= plot.x.size();
    const auto lies = [&](std::size_t i) { return by_value && numbers[i] && (!logarithmic || *numbers[i] > 0); };
    double left = kLeft + 12;
    const double right = kWidth - kRight - 12;
    std::size_t beside = 0;
    for (std::size_t i = 0; i < plot.x.size(); ++i) beside += lies(i) ? 0 : 1;
    const double slot =
        by_value ? kSlot : (right - left) / static_cast<double>(std::max<std::size_t>(1, plot.x.size()));
    if (!by_value) left += slot / 2;
    const double from = by_value ? left + slot * static_cast<double>(beside) : left;
    const double low = logarithmic ? least_positive : least;
    const auto place = [&](double value) {
      const double share = logarithmic ? std::log(value / low) / std::log(most / low) : (value - low) / (most - low);
      return from + share * (right - from);
    };
    std::size_t used = 0;
    for (std::size_t i = 0; i < plot.x.size(); ++i) {
      if (lies(i)) {
        at_.push_back(place(*numbers[i]));
        continue;
      }
      at_.push_back(left + slot * static_cast<double>(used++));
      const std::string text = plot.x[i].empty() ? "not set" : plot.x[i];
      ticks_.push_back({at_.back(), numbers[i] && plot.bytes ? show_binary(*numbers[i]) : text});
    }
    if (by_value) add_ticks(plot, logarithmic, low, most, place);
  }

  [[nodiscard]] double at(std::size_t i) const { return at_[i]; }
  [[nodiscard]] const std::vector<Tick>& ticks() const { return ticks_; }

 private:
  template <class Place>
  void add_ticks(const Plot& plot, bool logarithmic, double low, double most, Place place) {
    if (!logarithmic) {
      const double step = nice_step(most - low, 8);
      for (double value = std::ceil(low / step) * step; value <= most * (1 + 1e-9); value += step)
        ticks_.push_back({place(value), plot.bytes ? show_binary(value) : fmt::format("{:g}", value)});
      return;
    }
    double factor = plot.bytes ? 2 : 10;
    const double base = plot.bytes ? 2 : 10;
    while (std::log(most / low) / std::log(factor) > 9) factor *= base;
    if (!plot.bytes && std::log10(most / low) < 3.5) {
      for (const double digit : {1.0, 2.0, 5.0}) add_powers(plot, digit, 10, low, most, place);
      return;
    }
    add_powers(plot, 1, factor, low, most, place);
  }
  template <class Place>
  void add_powers(const Plot& plot, double first, double factor, double low, double most, Place place) {
    const double begin = std::ceil(std::log(low / first) / std::log(factor) - 1e-9);
    for (double k = begin;; ++k) {
      const double value = first * std::pow(factor, k);
      if (value > most * (1 + 1e-9)) return;
      ticks_.push_back({place(value), plot.bytes ? show_binary(value) : fmt::format("{:g}", value)});
    }
  }

  std::vector<double> at_;
  std::vector<Tick> ticks_;
};

class Ordinate {
 public:
  explicit Ordinate(const Plot& plot, double bottom) : bottom_(bottom) {
    bool any = false;
    for (const Curve& curve : plot.curves) {
      for (const auto& y : curve.y) {
        if (!y) continue;
        low_ = any ? std::min(low_, *y) : *y;
        high_ = any ? std::max(high_, *y) : *y;
        any = true;
      }
    }
    logarithmic_ = low_ > 0 && high_ / low_ > kFarApart;
    if (logarithmic_) {
      low_ /= 1.1, high_ *= 1.1;
      return;
    }
    const double range = high_ > low_ ? high_ - low_ : std::max(1e-9, std::abs(high_));
    // A curve that is flat looks flat: no less than a tenth of its height is shown.
    const double margin = std::max(0.08 * range, 0.5 * (0.1 * high_ - range));
    low_ = low_ >= 0 ? std::max(0.0, low_ - margin) : low_ - margin;
    high_ += margin;
    if (high_ <= low_) high_ = low_ + 1;
  }

  [[nodiscard]] double at(double y) const {
    const double share = logarithmic_ ? std::log(y / low_) / std::log(high_ / low_) : (y - low_) / (high_ - low_);
    return bottom_ - share * (bottom_ - kTop);
  }
  [[nodiscard]] std::vector<Tick> ticks() const {
    std::vector<Tick> ticks;
    if (logarithmic_) {
      for (double power = std::pow(10, std::floor(std::log10(low_))); power <= high_; power *= 10) {
        for (const double digit : {1.0, 2.0, 5.0}) {
          if (digit * power >= low_ && digit * power <= high_)
            ticks.push_back({at(digit * power), fmt::format("{:g}", digit * power)});
        }
      }
      return ticks;
    }
    const double step = nice_step(high_ - low_, 7);
    for (double y = std::ceil(low_ / step) * step; y <= high_; y += step)
      ticks.push_back({at(y), fmt::format("{:g}", std::abs(y) < step / 2 ? 0 : y)});
    return ticks;
  }

 private:
  double bottom_;
  double low_ = 0, high_ = 1;
  bool logarithmic_ = false;
};

class Picture {
 public:
  explicit Picture(const Plot& plot)
      : plot_(plot),
        legend_rows_((plot.curves.size() + 3) / 4),
        bottom_(kHeight - kBottom),
        x_(plot),
        y_(plot, bottom_) {}

  std::string draw() {
    text(kLeft, 24, plot_.title, " font-size=\"15\"");
    grid();
    std::size_t colour = 0;
    std::vector<const char*> colours;
    for (const Curve& curve : plot_.curves)
      colours.push_back(curve.dashed ? kBound : kColours[colour++ % kColours.size()]);
    for (std::size_t c = 0; c < plot_.curves.size(); ++c) draw_curve(plot_.curves[c], colours[c]);
    if (plot_.best) draw_best(*plot_.best);
    legend(colours);
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{2}</svg>\n",
        kWidth, kHeight + kLegendRow * static_cast<double>(legend_rows_), body_);
  }

 private:
  void text(double x, double y, const std::string& content, const std::string& more = "") {
    body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, more, as_xml(content));
  }
  void line(double x1, double y1, double x2, double y2, const char* stroke) {
    body_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1, x2,
                         y2, stroke);
  }

  void grid() {
    for (const Tick& tick : y_.ticks()) {
      line(kLeft, tick.at, kWidth - kRight, tick.at, "#e5e5e5");
      text(kLeft - 6, tick.at + 4, tick.text, " text-anchor=\"end\"");
    }
    double last = -1e9;
    std::vector<Tick> ticks = x_.ticks();
    std::sort(ticks.begin(), ticks.end(), [](const Tick& a, const Tick& b) { return a.at < b.at; });
    for (const Tick& tick : ticks) {
      line(tick.at, bottom_, tick.at, bottom_ + 5, "#333333");
      const double width = 6.8 * static_cast<double>(tick.text.size());
      if (tick.at - width / 2 < last + 4) continue;
      last = tick.at + width / 2;
      text(tick.at, bottom_ + 19, tick.text, " text-anchor=\"middle\"");
    }
    line(kLeft, bottom_, kWidth - kRight, bottom_, "#333333");
    line(kLeft, kTop, kLeft, bottom_, "#333333");
    text((kLeft + kWidth - kRight) / 2, bottom_ + 42, plot_.x_title, " text-anchor=\"middle\"");
    text(0, 0, plot_.y_title,
         fmt::format(" text-anchor=\"middle\" transform=\"translate(18,{:.1f}) rotate(-90)\"", (kTop + bottom_) / 2));
  }

  void draw_curve(const Curve& curve, const char* colour) {
    std::vector<std::pair<double, double>> dots;
    for (std::size_t i = 0; i < curve.y.size(); ++i) {
      if (curve.y[i]) dots.emplace_back(x_.at(i), y_.at(*curve.y[i]));
    }
    std::sort(dots.begin(), dots.end());
    std::string points;
    for (const auto& [x, y] : dots) points += fmt::format("{:.1f},{:.1f} ", x, y);
    if (!curve.dots_alone) {
      body_ += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"{}/>\n", points,
                           colour, curve.dashed ? " stroke-dasharray=\"6 4\"" : "");
    }
    if (curve.dashed) return;
    const double radius = curve.dots_alone ? 4 : (dots.size() > 60 ? 1.4 : 2.4);
    for (const auto& [x, y] : dots)
      body_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\"/>\n", x, y, radius, colour);
  }

  void draw_best(const Plot::Mark& best) {
    const auto& y = plot_.curves[best.curve].y[best.x];
    TUTTI_CHECK(y.has_value(), "the best point is not known");
    const double at_x = x_.at(best.x), at_y = y_.at(*y);
    body_ += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"7\" fill=\"none\" stroke=\"#000000\" stroke-width=\"1.8\"/>\n", at_x,
        at_y);
    const bool on_right = at_x > (kLeft + kWidth) / 2;
    text(at_x + (on_right ? -4 : 4), at_y + 22, best.text, on_right ? " text-anchor=\"end\"" : "");
  }

  void legend(const std::vector<const char*>& colours) {
    const double column = (kWidth - kLeft - kRight) / 4;
    for (std::size_t c = 0; c < plot_.curves.size(); ++c) {
      const double x = kLeft + column * static_cast<double>(c % 4);
      const double y = kHeight + kLegendRow * static_cast<double>(c / 4) - 2;
      const Curve& curve = plot_.curves[c];
      if (curve.dots_alone) {
        body_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"/>\n", x + 11, y - 4, colours[c]);
      } else {
        body_ += fmt::format(
            "<line x1=\"{0:.1f}\" y1=\"{2:.1f}\" x2=\"{1:.1f}\" y2=\"{2:.1f}\" stroke=\"{3}\" "
            "stroke-width=\"2\"{4}/>\n",
            x, x + 22, y - 4, colours[c], curve.dashed ? " stroke-dasharray=\"6 4\"" : "");
      }
      text(x + 28, y, curve.name);
    }
  }

  const Plot& plot_;
  std::size_t legend_rows_;
  double bottom_;
  Abscissa x_;
  Ordinate y_;
  std::string body_;
};

}  // namespace

std::string show_binary(double bytes) {
  constexpr std::pair<double, const char*> kUnits[] = {{1073741824.0, "GiB"}, {1048576.0, "MiB"}, {1024.0, "KiB"}};
  for (const auto& [unit, name] : kUnits) {
    if (bytes >= unit) return fmt::format("{:.4g} {}", bytes / unit, name);
  }
  return fmt::format("{:g} B", bytes);
}

std::string to_svg(const Plot& plot) {
  for (const Curve& curve : plot.curves)
    TUTTI_CHECK(curve.y.size() == plot.x.size(), "{} has {} of {} values", curve.name, curve.y.size(), plot.x.size());
  return Picture(plot).draw();
}

}  // namespace tutti::core
