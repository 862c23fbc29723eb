#include "core/calibrate/run_times.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "core/base/median.h"
#include "core/schedule/step.h"

namespace tutti::core {

void RunTimes::track(const Track& track) {
  if (detail_ == Detail::kDevices)
    devices_[track.id] = fmt::format("w{}/{}", track.worker, track.device);
}

void RunTimes::span(TrackId id, const Span& span) {
  if (detail_ == Detail::kPacks || span.kind < 0 || span.kind >= SpanKind::kFirstCompute ||
      span.pack < 0)
    return;
  TimeKey key{span.pack, span.kind};
  if (detail_ == Detail::kDevices) {
    messages_.span(id, span);
    if (span.kind != static_cast<std::int32_t>(StepKind::kReduce)) return;
    key.device = devices_[id];
  }
  times_[key][span.step].push_back(to_us(span.duration - span.wait));
}

void RunTimes::pack(const PackRecord& pack) {
  times_[{pack.pack, TimeKey::kPack}][pack.step] = {to_us(pack.end - pack.last_start)};
}

namespace {

double low_decile(std::vector<double> us) {
  const auto place = us.begin() + us.size() / 10;
  std::nth_element(us.begin(), place, us.end());
  return *place;
}

}  // namespace

std::map<TimeKey, double> RunTimes::us() const {
  std::map<TimeKey, double> medians;
  if (steps_.empty()) return medians;
  const std::int32_t first = steps_.begin()->first;
  auto all = times_;
  for (const MessageTimes::Message& message : messages_.messages()) {
    const auto device = devices_.find(message.receiver);
    if (device != devices_.end())
      all[{message.pack, message.kind, device->second}][message.step].push_back(message.way_us);
  }
  for (const auto& [key, times] : all) {
    std::vector<double> us;
    for (const auto& [step, spans] : times) {
      if (!steps_.contains(step) || (step == first && steps_.size() > 1)) continue;
      if (!key.device.empty()) us.insert(us.end(), spans.begin(), spans.end());
      const double mean =
          std::accumulate(spans.begin(), spans.end(), 0.0) / static_cast<double>(spans.size());
      if (key.device.empty() && mean > 0) us.push_back(mean);
    }
    if (!us.empty())
      medians[key] = key.device.empty() ? median(std::move(us)) : low_decile(std::move(us));
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
