#include "gui/trace/time_range.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/base/format.h"

namespace tutti::gui {

using core::Time;

namespace {

/// The length of the narrowest view: one picosecond per pixel in the widest window. No span is
/// shorter than a picosecond.
constexpr Time kNarrowestView{10'000};
constexpr std::size_t kMaxKept = 200;

void keep(std::vector<TimeRange>& history, const TimeRange& range) {
  if (!history.empty() && history.back() == range) return;
  history.push_back(range);
  if (history.size() > kMaxKept) history.erase(history.begin());
}

}  // namespace

View::View(Time length) : length_(std::max(length, kNarrowestView)), range_{Time(), length_} {}

TimeRange View::fitted(TimeRange range) const {
  const Time length = std::clamp(range.length(), kNarrowestView, length_);
  range.from = std::clamp(range.from, Time(), length_ - length);
  return {range.from, range.from + length};
}

void View::show(const TimeRange& range) {
  gliding_ = false;
  glide(range);
  gliding_ = false;
}

void View::glide(const TimeRange& range) {
  const TimeRange next = fitted(range);
  if (next == range_) return;
  if (!gliding_) {
    keep(back_, range_);
    forward_.clear();
  }
  gliding_ = true;
  range_ = next;
}

TimeRange View::zoomed(double factor, Time at) const {
  const auto from = static_cast<double>((range_.from - at).count());
  const auto to = static_cast<double>((range_.to - at).count());
  // Limit distances far beyond the run, so that they cannot overflow. The resulting view is the
  // same.
  const auto reach = 2 * static_cast<double>(length_.count());
  const auto scaled = [&](double distance) {
    return Time(std::llround(std::clamp(distance * factor, -reach, reach)));
  };
  return {at + scaled(from), at + scaled(to)};
}

TimeRange View::panned(double share) const {
  const Time by(std::llround(share * static_cast<double>(range_.length().count())));
  return {range_.from + by, range_.to + by};
}

void View::go_back() {
  if (back_.empty()) return;
  keep(forward_, range_);
  range_ = back_.back();
  back_.pop_back();
  gliding_ = false;
}

void View::go_forward() {
  if (forward_.empty()) return;
  keep(back_, range_);
  range_ = forward_.back();
  forward_.pop_back();
  gliding_ = false;
}

Ticks ticks_of(const TimeRange& range, int most) {
  TUTTI_CHECK(range.to > range.from && most >= 1, "{} ps, at most {}", range.length().count(),
              most);
  const std::int64_t step = core::round_step(range.length().count() / most + 1);
  Ticks ticks;
  ticks.step = Time(step);
  ticks.length = range.length();
  ticks.minor = std::to_string(step).front() == '2' ? 4 : 5;
  ticks.first = Time((range.from.count() + step - 1) / step * step);
  return ticks;
}

const TimeUnit& unit_for(Time length) {
  static constexpr std::array<TimeUnit, 5> kUnits{TimeUnit{1'000'000'000'000, "s"},
                                                  {1'000'000'000, "ms"},
                                                  {1'000'000, "µs"},
                                                  {1'000, "ns"},
                                                  {1, "ps"}};
  const auto unit = std::find_if(kUnits.begin(), kUnits.end(), [length](const TimeUnit& candidate) {
    return length.count() >= candidate.picoseconds;
  });
  return unit == kUnits.end() ? kUnits.back() : *unit;
}

std::string Ticks::label(Time t) const {
  if (t == Time()) return "0";
  const TimeUnit& unit = unit_for(length > Time() ? length : Time(5 * step.count()));
  int digits = 0;
  for (std::int64_t least = unit.picoseconds; step.count() % least != 0; least /= 10) ++digits;
  return fmt::format("{:.{}f} {}",
                     static_cast<double>(t.count()) / static_cast<double>(unit.picoseconds), digits,
                     unit.name);
}

}  // namespace tutti::gui
