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

/// The record of one worker's step, and the conversion of its times to the coordinator's clock
/// (nanoseconds, monotonic).
struct WorkerPart {
  const proto::StepResult* result = nullptr;
  std::function<std::int64_t(std::int64_t)> to_ours;
};

/// Merges the workers' records of each step into one timeline. Steps of a batch keep their
/// distances. A batch is placed directly after the one before: what happens between batches (new
/// inputs, comparing results) is left out.
class StepMerger {
 public:
  /// `time_scale`: the factor by which the workers' times are slower than the scenario's clock; 0:
  /// no clock is emulated.
  /// REQUIRES: scenario, record and sink outlive it.
  StepMerger(const core::Scenario& scenario, double time_scale, const core::RecordOptions& record,
             core::TimelineSink& sink)
      : scenario_(scenario),
        time_scale_(time_scale),
        record_(record),
        sink_(sink),
        peers_(scenario) {}

  /// Returns what is wrong with a record that came from `worker`; empty if it can be merged.
  [[nodiscard]] std::string problem_of(const proto::StepResult& part, std::int32_t worker,
                                       std::int32_t step) const;
  /// Starts a batch, whose first step these records are of. REQUIRES: problem_of() is empty for
  /// every record.
  void begin_batch(const std::vector<WorkerPart>& parts);
  /// Adds the next step of the batch. REQUIRES: as begin_batch().
  void merge(std::int32_t step, const std::vector<WorkerPart>& parts);
  [[nodiscard]] bool left_out() const { return left_out_; }
  /// Returns the share of the time with packs in flight that a worker was runnable but waited for a
  /// core, summed over all steps, each with the worker that waited longest; at most 1.
  [[nodiscard]] double core_wait() const;
  /// Converts a duration of the workers to the scenario's clock.
  [[nodiscard]] core::Time scenario_time(std::int64_t ns) const;

 private:
  /// True if the worker's machine has a device or card of this name.
  [[nodiscard]] bool has_part(std::int32_t worker, const std::string& name) const;
  using InRun = std::function<core::Time(std::int64_t)>;
  void write_packs(std::int32_t step, const std::vector<WorkerPart>& parts,
                   const std::vector<InRun>& in_run);
  /// Returns the row's track, and reports it to the sink if it is new; nothing if its worker is not
  /// recorded.
  std::optional<core::TrackId> track_of(const proto::TrackInfo& row);
  void note_lanes(const proto::StepResult& part);
  void write_spans(const proto::TrackInfo& row, const proto::SpanColumns& columns,
                   const InRun& in_run);

  const core::Scenario& scenario_;
  double time_scale_;
  const core::RecordOptions& record_;
  core::TimelineSink& sink_;
  LanePeers peers_;
  std::map<std::tuple<int, std::int32_t, std::string, std::int32_t, std::int32_t>, core::TrackId>
      tracks_;
  core::Time length_;
  core::Time in_flight_, core_wait_;  ///< totals over all steps
  std::int64_t origin_ns_ = 0;        ///< when the batch began, by the coordinator's clock
  core::Time origin_;                 ///< the batch's begin in the timeline
  bool left_out_ = false;
};

}  // namespace tutti::real
