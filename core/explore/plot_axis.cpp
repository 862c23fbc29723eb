#include "core/explore/plot_axis.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/number.h"
#include "core/explore/plot.h"

namespace tutti::core {
namespace {

/// The ratio of the largest to the smallest value above which an axis is logarithmic by default. On
/// a linear axis, small values could not be distinguished.
constexpr double kMinFactor = 12;
/// The length, as a share of the axis, that is reserved for each value that is not a number.
constexpr double kSlot = 0.07;
/// The distance, as a share of the axis, between the outermost numbers and the ends of the axis.
constexpr double kMargin = 0.02;

/// Returns the distance between ticks: 1, 2 or 5 times a power of ten, chosen so that `range` is
/// divided into about `count` parts.
double nice_step(double range, double count) {
  const double raw = range / count;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw * 0.999) return factor * power;
  }
  return 10 * power;
}

std::string shown(double number, bool bytes) {
  return bytes && number > 0 ? show_binary(number) : fmt::format("{:g}", number);
}

}  // namespace

double PlotAxis::at(double number) const {
  const double share = logarithmic_ ? std::log(number / low_) / std::log(high_ / low_)
                                    : (number - low_) / (high_ - low_);
  return from_ + share * (1 - kMargin - from_);
}

PlotAxis PlotAxis::of_values(const std::vector<std::string>& values, bool bytes, Scale scale) {
  PlotAxis axis;
  std::vector<std::optional<double>> numbers;
  double least = 0, most = 0, min_positive = 0;
  std::size_t count = 0;
  for (const std::string& text : values) {
    numbers.push_back(number_of(text));
    if (!numbers.back()) continue;
    const double value = *numbers.back();
    least = count == 0 ? value : std::min(least, value);
    most = count == 0 ? value : std::max(most, value);
    if (value > 0) min_positive = min_positive == 0 ? value : std::min(min_positive, value);
    ++count;
  }
  const bool can_be_logarithmic = least >= 0 && min_positive > 0 && most > min_positive;
  axis.by_number_ = count >= 2 && count + 2 >= values.size() && most > least;
  axis.logarithmic_ = axis.by_number_ && can_be_logarithmic &&
                      (scale == Scale::kLogarithmic ||
                       (scale == Scale::kAuto && most / min_positive >= kMinFactor));
  const auto lies = [&](std::size_t i) {
    return axis.by_number_ && numbers[i] && (!axis.logarithmic_ || *numbers[i] > 0);
  };
  std::size_t beside = 0;
  for (std::size_t i = 0; i < values.size(); ++i) beside += lies(i) ? 0 : 1;
  const double slot =
      axis.by_number_ ? kSlot : 1 / static_cast<double>(std::max<std::size_t>(1, values.size()));
  axis.low_ = axis.logarithmic_ ? min_positive : least;
  axis.high_ = most > axis.low_ ? most : axis.low_ + 1;
  axis.from_ = axis.by_number_ ? kMargin + kSlot * static_cast<double>(beside) : 0;
  std::size_t used = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (lies(i)) {
      axis.places_.push_back(axis.at(*numbers[i]));
      continue;
    }
    const double place = axis.by_number_ ? kMargin + slot * static_cast<double>(used++)
                                         : slot * (static_cast<double>(used++) + 0.5);
    axis.places_.push_back(place);
    axis.ticks_.push_back({place, values[i].empty() ? "not set"
                                  : numbers[i]      ? shown(*numbers[i], bytes)
                                                    : values[i]});
  }
  if (axis.by_number_) axis.add_ticks(bytes);
  return axis;
}

PlotAxis PlotAxis::of_costs(double low, double high, Scale scale) {
  PlotAxis axis;
  axis.by_number_ = true;
  axis.logarithmic_ = low > 0 && (scale == Scale::kLogarithmic ||
                                  (scale == Scale::kAuto && high / low > kMinFactor));
  if (axis.logarithmic_) {
    axis.low_ = low / 1.1;
    axis.high_ = high * 1.1;
  } else {
    const double range = high > low ? high - low : std::max(1e-9, std::abs(high));
    const double margin = std::max(0.08 * range, 0.5 * (0.1 * high - range));
    axis.low_ = low >= 0 ? std::max(0.0, low - margin) : low - margin;
    axis.high_ = std::max(high + margin, axis.low_ + 1e-9);
  }
  axis.from_ = kMargin;
  axis.add_ticks(false);
  return axis;
}

void PlotAxis::add_ticks(bool bytes) {
  const auto add = [&](double value) {
    if (value >= low_ * (1 - 1e-9) && value <= high_ * (1 + 1e-9))
      ticks_.push_back({at(value), shown(value, bytes)});
  };
  const auto add_even = [&] {
    const double step = nice_step(high_ - low_, 8);
    const double first = std::ceil(low_ / step - 1e-9);
    for (double k = first; k * step <= high_ * (1 + 1e-9) && k < first + 100; ++k)
      add(std::abs(k * step) < step / 2 ? 0 : k * step);
  };
  if (!logarithmic_) return add_even();
  const double base = bytes ? 2 : 10;
  const double powers = std::log(high_ / low_) / std::log(base);
  // An axis has ticks at no more than about nine powers of its base. A short decimal axis also has
  // ticks at 2 and 5 times each power.
  const double every = std::max(1.0, std::ceil(powers / 9));
  const bool between = !bytes && powers < 3.5;
  for (double k = std::floor(std::log(low_) / std::log(base) / every) * every;
       std::pow(base, k) <= high_; k += every) {
    add(std::pow(base, k));
    if (!between) continue;
    add(2 * std::pow(base, k));
    add(5 * std::pow(base, k));
  }
  // If a short axis would have fewer than three ticks at powers, use ticks at equal distances
  // instead.
  constexpr std::size_t kFew = 3;
  if (ticks_.size() >= kFew) return;
  ticks_.clear();
  add_even();
}

}  // namespace tutti::core
