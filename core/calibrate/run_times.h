#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/calibrate/message_times.h"
#include "core/timeline/timeline.h"

namespace tutti::core {

/// Identifies one of the times of a run: the time of a whole pack, or the time of the pack's lane
/// steps of one kind.
struct TimeKey {
  std::int32_t pack = 0;
  std::int32_t step_kind = kPack;  ///< a StepKind, or kPack for the pack as a whole
  std::string device = {};         ///< name such as "w2/gpu0"; empty: all devices together
  auto operator<=>(const TimeKey&) const = default;

  static constexpr std::int32_t kPack = -1;
};

/// Collects the times of a run that are compared with predictions. The time of a pack begins when
/// the last replica starts the pack, and ends when the pack is complete on all ranks. The time of a
/// kind of lane step is the mean over the recorded steps, without waiting. The time of a device is
/// the lower decile of the times of messages to it, or of additions on it. The lower decile is used
/// because a late receiver can only increase the time of a message (message_times.h).
class RunTimes : public NullSink {
 public:
  enum class Detail {
    kPacks,
    kLaneSteps,  ///< like kPacks, plus the times of the lane steps of each pack, by kind of step
    kDevices,  ///< like kPacks, plus the times of messages to each device and of additions on each
               ///< device
  };
  explicit RunTimes(Detail detail) : detail_(detail) {}

  void track(const Track& track) override;
  void span(TrackId, const Span& span) override;
  void step(const StepRecord& step) override { steps_[step.step] = step.end - step.start; }
  void pack(const PackRecord& pack) override;

  /// Returns the times in µs. The time of a device is the lower decile over the completed training
  /// steps; all other times are medians over these steps. If there are several training steps, the
  /// first one is ignored, because caches and connections are not warmed up in it. Times that are
  /// not positive are ignored.
  [[nodiscard]] std::map<TimeKey, double> us() const;
  /// Returns the time of a training step; nullopt if no training step ended.
  [[nodiscard]] std::optional<double> step_us() const;
  [[nodiscard]] std::int64_t steps() const { return static_cast<std::int64_t>(steps_.size()); }

 private:
  Detail detail_;
  MessageTimes messages_;
  std::map<TrackId, std::string> devices_;
  std::map<std::int32_t, Time> steps_;
  /// Maps each key to its samples, grouped by training step.
  std::map<TimeKey, std::map<std::int32_t, std::vector<double>>> times_;
};

}  // namespace tutti::core
