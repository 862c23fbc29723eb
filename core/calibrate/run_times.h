#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/calibrate/message_times.h"
#include "core/timeline/timeline.h"

namespace tutti::core {

/// Selects times of a run: of a pack in flight, or of the lane steps of one kind that moved it.
struct TimeKey {
  std::int32_t pack = 0;
  std::int32_t step_kind = kPack;  ///< a StepKind, or kPack for the pack as a whole
  std::string device = {};         ///< "w2/gpu0"; empty: all devices together
  auto operator<=>(const TimeKey&) const = default;

  static constexpr std::int32_t kPack = -1;
};

/// Collects the times of a run that are compared with a prediction. For packs: from the start on
/// the last replica to the end on the last rank. For lane steps, without their waiting time: the
/// mean over the recorded ones. For each device: the lower decile of the times of messages to it,
/// which late receivers can only increase (message_times.h), and of additions on it.
class RunTimes : public DeafSink {
 public:
  enum class Detail {
    kPacks,
    kLaneSteps,  ///< also the times of lane steps that moved a pack, by kind
    kDevices,    ///< also the times of messages to, and additions on, each device
  };
  explicit RunTimes(Detail detail) : detail_(detail) {}

  void track(const Track& track) override;
  void span(TrackId, const Span& span) override;
  void step(const StepRecord& step) override { steps_[step.step] = step.end - step.start; }
  void pack(const PackRecord& pack) override;

  /// Medians over the completed steps (per device: deciles over all of them), without the first if
  /// there are others, because its caches and connections are cold. In microseconds; only positive
  /// times.
  [[nodiscard]] std::map<TimeKey, double> us() const;
  /// Returns the time of a training step; nullopt if none ended.
  [[nodiscard]] std::optional<double> step_us() const;
  [[nodiscard]] std::int64_t steps() const { return static_cast<std::int64_t>(steps_.size()); }

 private:
  Detail detail_;
  MessageTimes messages_;
  std::map<TrackId, std::string> devices_;
  std::map<std::int32_t, Time> steps_;
  /// Samples of each time, by training step.
  std::map<TimeKey, std::map<std::int32_t, std::vector<double>>> times_;
};

}  // namespace tutti::core
