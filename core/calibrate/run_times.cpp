#include "core/calibrate/run_times.h"

#include <algorithm>

namespace tutti::core {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

void RunTimes::span(TrackId, const Span& span) {
  if (!lane_steps_ || span.kind < 0 || span.kind >= SpanKind::kFirstCompute || span.pack < 0) return;
  Sum& sum = times_[{span.pack, span.kind}][span.step];
  sum.us += to_us(span.duration - span.wait);
  ++sum.count;
}

void RunTimes::pack(const PackRecord& pack) {
  times_[{pack.pack, TimeKey::kPack}][pack.step] = {to_us(pack.end - pack.last_start), 1};
}

std::map<TimeKey, double> RunTimes::us() const {
  std::map<TimeKey, double> medians;
  if (steps_.empty()) return medians;
  const std::int32_t first = steps_.begin()->first;
  for (const auto& [key, times] : times_) {
    std::vector<double> us;
    for (const auto& [step, sum] : times) {
      const bool counts = steps_.contains(step) && (step != first || steps_.size() == 1);
      if (counts && sum.us > 0) us.push_back(sum.us / static_cast<double>(sum.count));
    }
    if (!us.empty()) medians[key] = median(std::move(us));
  }
  return medians;
}

std::optional<double> RunTimes::step_us() const {
  if (steps_.empty()) return std::nullopt;
  std::vector<double> us;
  for (const auto& [step, time] : steps_) {
    if (step != steps_.begin()->first || steps_.size() == 1) us.push_back(to_us(time));
  }
  return median(std::move(us));
}

}  // namespace tutti::core
