#include "gui/trace/playback.h"

#include <algorithm>

#include <fmt/format.h>

namespace tutti::gui {

using core::Time;
using core::Wide;

void Playback::play(const TimeRange& range) {
  if (moment_ < range.from || moment_ >= range.to) moment_ = range.from;
  rest_ = 0;
  playing_ = true;
}

void Playback::set_speed(int power) { speed_ = std::clamp(power, kSlowest, kFastest); }

Time Playback::per_second(const TimeRange& range) const {
  const Wide whole = static_cast<Wide>(range.length().count()) * 1000;
  const Wide scaled = speed_ >= 0 ? whole << speed_ : whole >> -speed_;
  return Time(static_cast<std::int64_t>(scaled / kMillisecondsForRange));
}

void Playback::advance(std::int64_t milliseconds, const TimeRange& range) {
  if (!playing_) return;
  // Keep the remaining fraction of a picosecond, so that many short frames add up to the same time
  // as one long frame.
  constexpr Wide kParts = static_cast<Wide>(kMillisecondsForRange) << -kSlowest;
  const Wide passed =
      (static_cast<Wide>(range.length().count()) * milliseconds << (speed_ - kSlowest)) + rest_;
  rest_ = passed % kParts;
  const Wide moved =
      std::min<Wide>(passed / kParts, range.to.count() - std::min(range.to, moment_).count());
  moment_ = std::max(range.from, moment_ + Time(static_cast<std::int64_t>(moved)));
  if (moment_ >= range.to) playing_ = false;
}

std::string moment_text(const Trace& trace, Time t, const TimeRange& range) {
  const TimeUnit& unit = unit_for(range.length());
  int digits = unit.picoseconds > 1 ? 1 : 0;
  for (std::int64_t least = unit.picoseconds / 10;
       least > 1 && least > range.length().count() / 1000; least /= 10)
    ++digits;
  const auto text = [&](Time time) {
    return fmt::format("{:.{}f} {}",
                       static_cast<double>(time.count()) / static_cast<double>(unit.picoseconds),
                       digits, unit.name);
  };
  for (const AxisStretch& stretch : trace.axis()) {
    if (t >= stretch.from && t < stretch.to)
      return fmt::format("{} + {}", stretch.name, text(t - stretch.from));
  }
  return text(t);
}

Time next_event(const Trace& trace, const std::vector<std::size_t>& rows, Time t) {
  Time best = core::kNever;
  for (const std::size_t r : rows) {
    const SpanRow& spans = trace.rows()[r].spans;
    const SpanRow::Index next = spans.first_from(t + Time(1));
    if (next > 0 && spans.end(next - 1) > t) best = std::min(best, spans.end(next - 1));
    if (next < spans.size()) best = std::min(best, spans.start(next));
  }
  return best;
}

Time previous_event(const Trace& trace, const std::vector<std::size_t>& rows, Time t) {
  Time best(-1);
  for (const std::size_t r : rows) {
    const SpanRow& spans = trace.rows()[r].spans;
    const SpanRow::Index from = spans.first_from(t);
    if (from == 0) continue;
    best = std::max(best, spans.start(from - 1));
    // If the last span has not ended before `t`, take the end of the span before it.
    if (spans.end(from - 1) < t) best = std::max(best, spans.end(from - 1));
    if (from > 1 && spans.end(from - 2) < t) best = std::max(best, spans.end(from - 2));
  }
  return best < Time() ? core::kNever : best;
}

}  // namespace tutti::gui
