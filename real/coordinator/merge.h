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

/// One worker's record of a training step, with a function that converts the record's times to
/// times of the coordinator's monotonic clock, in nanoseconds.
struct WorkerPart {
  const proto::StepResult* result = nullptr;
  std::function<std::int64_t(std::int64_t)> to_ours;
};

/// Merges the workers' records of each training step into one timeline. Steps run in batches;
/// results are compared after each batch. The gaps between the steps of a batch are kept. Each
/// batch is placed directly after the previous batch, because the time between batches is spent on
/// new inputs and on comparing results.
class StepMerger {
 public:
  /// `time_scale`: the factor by which the emulation slows the scenario down; 0: nothing is
  /// emulated.
  /// REQUIRES: scenario, record and sink outlive this object.
  StepMerger(const core::Scenario& scenario, double time_scale, const core::RecordOptions& record,
             core::TimelineSink& sink)
      : scenario_(scenario),
        time_scale_(time_scale),
        record_(record),
        sink_(sink),
        peers_(scenario) {}

  /// Returns the reason why the record from `worker` cannot be merged; empty if the record is
  /// valid.
  [[nodiscard]] std::string problem_of(const proto::StepResult& part, std::int32_t worker,
                                       std::int32_t step) const;
  /// Starts a batch. `parts`: the workers' records of the first step of the batch. REQUIRES:
  /// problem_of() is empty for every record.
  void begin_batch(const std::vector<WorkerPart>& parts);
  /// Adds the next step of the batch. REQUIRES: as begin_batch().
  void merge(std::int32_t step, const std::vector<WorkerPart>& parts);
  [[nodiscard]] bool left_out() const { return left_out_; }
  /// Returns the time during which a worker was runnable but waited for a core, divided by the time
  /// with packs in flight; at most 1. Waiting times and times with packs in flight are summed over
  /// all training steps. In each step, only the worker that waited longest counts.
  [[nodiscard]] double core_wait() const;
  /// Converts a duration measured by workers to the scenario's clock.
  [[nodiscard]] core::Time scenario_time(std::int64_t ns) const;

 private:
  /// Returns true if the worker's machine has a device or card of this name.
  [[nodiscard]] bool has_part(std::int32_t worker, const std::string& name) const;
  using InRun = std::function<core::Time(std::int64_t)>;
  void write_packs(std::int32_t step, const std::vector<WorkerPart>& parts,
                   const std::vector<InRun>& in_run);
  /// Returns the timeline's track for a row of spans that a worker reported. Adds the track to the
  /// sink if it is new. Returns nullopt if the timeline does not record this worker.
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
  core::Time in_flight_, core_wait_;  ///< sums over all steps
  std::int64_t origin_ns_ = 0;        ///< start of the batch by the coordinator's clock
  core::Time origin_;                 ///< start of the batch in the timeline
  bool left_out_ = false;
};

}  // namespace tutti::real
