#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/scenario/executor.h"
#include "real/wire/lane_peers.h"

namespace tutti::proto {
class SpanColumns;
class StepResult;
class TrackInfo;
}  // namespace tutti::proto

namespace tutti::real {

/// What one worker did in a step, and how its times become the coordinator's (nanoseconds, never backwards).
struct WorkerPart {
  const proto::StepResult* result = nullptr;
  std::function<std::int64_t(std::int64_t)> to_ours;
};

/// Joins the workers' parts of each step into one timeline. Steps of a batch follow on each other as they did; a batch's
/// place is right behind the one before: what happens between them (new inputs, comparing results) is no part of it.
class StepMerger {
 public:
  /// `time_scale`: how much slower than the scenario's clock workers' times are; 0: there is no other clock.
  /// REQUIRES: scenario, record and sink outlive it.
  StepMerger(const core::Scenario& scenario, double time_scale, const core::RecordOptions& record,
             core::TimelineSink& sink)
      : scenario_(scenario), time_scale_(time_scale), record_(record), sink_(sink), peers_(scenario) {}

  /// What is wrong with a part that came from `worker`, in words; nothing if it can be merged.
  [[nodiscard]] std::string problem_of(const proto::StepResult& part, std::int32_t worker, std::int32_t step) const;
  /// A batch begins with the step of these parts. REQUIRES: problem_of() every part is empty.
  void begin_batch(const std::vector<WorkerPart>& parts);
  /// The next step of the batch. REQUIRES: likewise.
  void merge(std::int32_t step, const std::vector<WorkerPart>& parts);
  [[nodiscard]] bool left_out() const { return left_out_; }
  /// Of the time that packs were in flight, for which share the worker that did so longest stood ready while the cores ran others,
  /// over all steps; at most 1.
  [[nodiscard]] double core_wait() const;
  /// A duration of the workers, on the scenario's clock.
  [[nodiscard]] core::Time scenario_time(std::int64_t ns) const;

 private:
  using InRun = std::function<core::Time(std::int64_t)>;
  void write_packs(std::int32_t step, const std::vector<WorkerPart>& parts, const std::vector<InRun>& in_run);
  /// The row's track, told to the sink when it is new; nothing if its worker is not recorded.
  std::optional<core::TrackId> track_of(const proto::TrackInfo& row);
  void note_lanes(const proto::StepResult& part);
  void write_spans(const proto::TrackInfo& row, const proto::SpanColumns& columns, const InRun& in_run);

  const core::Scenario& scenario_;
  double time_scale_;
  const core::RecordOptions& record_;
  core::TimelineSink& sink_;
  LanePeers peers_;
  std::map<std::tuple<int, std::int32_t, std::string, std::int32_t, std::int32_t>, core::TrackId> tracks_;
  core::Time length_;
  core::Time in_flight_, core_wait_;  ///< of all steps
  std::int64_t origin_ns_ = 0;        ///< of our clock: when the batch began,
  core::Time origin_;                 ///< and where that is in the timeline
  bool left_out_ = false;
};

}  // namespace tutti::real
