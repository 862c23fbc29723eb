#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/timeline/timeline.h"

namespace tutti::core {

/// Which of a run's times: a pack's in flight, or those of the lane steps of one kind that moved it.
struct TimeKey {
  std::int32_t pack = 0;
  std::int32_t step_kind = kPack;  ///< a StepKind, or the pack as a whole
  auto operator<=>(const TimeKey&) const = default;

  static constexpr std::int32_t kPack = -1;
};

/// What is held against each other of a prediction and a measurement. Of packs: from the start on the last replica to the
/// end on the last rank. Of lane steps: the mean over those that were recorded, without the time they waited.
class RunTimes : public DeafSink {
 public:
  explicit RunTimes(bool lane_steps) : lane_steps_(lane_steps) {}

  void span(TrackId, const Span& span) override;
  void step(const StepRecord& step) override { steps_[step.step] = step.end - step.start; }
  void pack(const PackRecord& pack) override;

  /// Medians over the steps that ended, without the first if there are others: it finds caches and connections cold.
  /// In microseconds; only what took any time.
  [[nodiscard]] std::map<TimeKey, double> us() const;
  /// Of a training step; nothing if none ended.
  [[nodiscard]] std::optional<double> step_us() const;
  [[nodiscard]] std::int64_t steps() const { return static_cast<std::int64_t>(steps_.size()); }

 private:
  /// Of one training step.
  struct Sum {
    double us = 0;
    std::int64_t count = 0;
  };

  bool lane_steps_;
  std::map<std::int32_t, Time> steps_;
  std::map<TimeKey, std::map<std::int32_t, Sum>> times_;
};

/// The median. REQUIRES: not empty.
double median(std::vector<double> values);

}  // namespace tutti::core
