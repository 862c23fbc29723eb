#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/timeline/step_parts.h"
#include "sim/engine/critical_path.h"
#include "sim/run/awaited.h"

namespace tutti::sim {

/// The times of one replica in a training step that the replica has ended.
struct ReplicaEnd {
  core::PartId device;
  core::Time began;
  core::Time ready;  ///< time at which the replica's last gradients were ready
  core::Time forward, backward, other;
  core::Time communication, exposed;
  core::Time slowed;  ///< time by which simultaneous communication extended computation
  Cause cause;        ///< cause of the end of the step on this replica
};

/// Combines the data of all replicas into the record of each training step, and determines the
/// device whose gradients were ready last.
class StepEnds {
 public:
  /// `workers_per_simulated` is the number of workers that each simulated worker represents.
  /// REQUIRES: the cluster outlives this object.
  StepEnds(const core::Cluster& cluster, std::int64_t workers_per_simulated)
      : cluster_(cluster), workers_per_simulated_(workers_per_simulated) {}

  /// Records that a replica has ended the step. Calls must be in order of time. When all replicas
  /// have ended the step, returns the record of the step, with the times of the replica that
  /// computed longest after the end of the previous step. If the computation of several replicas
  /// took equally long, the times of the replica that ended last are used.
  std::optional<core::StepRecord> add(std::int32_t step, const ReplicaEnd& end, core::Time now);
  /// Adds `steps` steps that are not simulated. `later` is their total time.
  void skip(std::int32_t steps, core::Time later) {
    ended_ += steps;
    last_end_ += later;
  }
  /// Does the same as skip(), for steps whose end cannot be represented as a time.
  void skip_to_never() { last_end_ = core::kNever; }

  [[nodiscard]] std::int32_t ended() const { return ended_; }
  [[nodiscard]] core::Time last_end() const { return last_end_; }
  /// Returns the start of the last step that was simulated.
  [[nodiscard]] core::Time last_start() const { return last_start_; }
  [[nodiscard]] const Cause& last_cause() const { return last_cause_; }
  /// Appends pointers to all causes that this object stores.
  void add_causes(std::vector<Cause*>& causes);

 private:
  struct Longest {
    core::Time computed;
    core::PartId device;
    core::ReplicaParts parts;  ///< without the name of the device
  };
  struct Step {
    std::int64_t replicas = 0;
    bool start_known = true;  ///< false if a replica ended the step before the previous step had
                              ///< ended on all replicas
    Longest after_start;      ///< the longest computation after the end of the previous step
    Longest in_total;         ///< the longest computation; used if the start was not known
    Cause cause;
    Awaited awaited;
  };

  const core::Cluster& cluster_;
  std::int64_t workers_per_simulated_;
  std::map<std::int32_t, Step> steps_;  ///< steps that some but not all replicas have ended
  std::int32_t ended_ = 0;
  core::Time last_end_, last_start_;
  Cause last_cause_;
};

}  // namespace tutti::sim
