#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/calibrate/message_times.h"
#include "core/timeline/timeline.h"

namespace tutti::core {

/// Which of a run's times: a pack's in flight, or those of the lane steps of one kind that moved
/// it.
struct TimeKey {
  std::int32_t pack = 0;
  std::int32_t step_kind = kPack;  ///< a StepKind, or the pack as a whole
  std::string device = {};         ///< "w2/gpu0"; empty: of all devices together
  auto operator<=>(const TimeKey&) const = default;

  static constexpr std::int32_t kPack = -1;
};

/// What is held against each other of a prediction and a measurement. Of packs: from the start on
/// the last replica to the end on the last rank. Of lane steps, without the time they waited: the
/// mean over those that were recorded. Device by device, the lower decile of what messages took on
/// their way to it, which late receivers only make longer (message_times.h), and of what additions
/// on it took.
class RunTimes : public DeafSink {
 public:
  enum class Detail {
    kPacks,
    kLaneSteps,  ///< also the steps of each kind that moved a pack
    kDevices,    ///< also what messages to a device and additions on it took
  };
  explicit RunTimes(Detail detail) : detail_(detail) {}

  void track(const Track& track) override;
  void span(TrackId, const Span& span) override;
  void step(const StepRecord& step) override { steps_[step.step] = step.end - step.start; }
  void pack(const PackRecord& pack) override;

  /// Medians over the steps that ended (device by device: deciles of all of them), without the
  /// first if there are others: it finds caches and connections cold. In microseconds; only what
  /// took any time.
  [[nodiscard]] std::map<TimeKey, double> us() const;
  /// Of a training step; nothing if none ended.
  [[nodiscard]] std::optional<double> step_us() const;
  [[nodiscard]] std::int64_t steps() const { return static_cast<std::int64_t>(steps_.size()); }

 private:
  Detail detail_;
  MessageTimes messages_;
  std::map<TrackId, std::string> devices_;
  std::map<std::int32_t, Time> steps_;
  std::map<TimeKey, std::map<std::int32_t, std::vector<double>>> times_;  ///< by training step
};

}  // namespace tutti::core
