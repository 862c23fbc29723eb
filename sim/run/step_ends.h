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

/// A replica's part of a training step that it has ended.
struct ReplicaEnd {
  core::PartId device;
  core::Time began;
  core::Time ready;  ///< when its last gradients were
  core::Time forward, backward, other;
  core::Time communication, exposed;
  core::Time slowed;  ///< how much longer computation took than alone
  Cause cause;        ///< of the end
};

/// Puts together the records of training steps out of what replicas did in them, and who had its gradients last.
class StepEnds {
 public:
  /// `fellows`: workers that each one stands for. REQUIRES: the cluster outlives it.
  StepEnds(const core::Cluster& cluster, std::int64_t fellows) : cluster_(cluster), fellows_(fellows) {}

  /// A replica ends the step, in the order of time. Returns the record of the step once all have ended it. The record is of the replica
  /// that computed longest; of several the last.
  std::optional<core::StepRecord> add(std::int32_t step, const ReplicaEnd& end, core::Time now);
  /// Steps that follow are told without being simulated: so many, `later` altogether.
  void skip(std::int32_t steps, core::Time later) {
    ended_ += steps;
    last_end_ += later;
  }
  /// … so many that they end later than can be counted.
  void skip_to_never() { last_end_ = core::kNever; }

  [[nodiscard]] std::int32_t ended() const { return ended_; }
  [[nodiscard]] core::Time last_end() const { return last_end_; }
  /// Of the last step that was simulated.
  [[nodiscard]] core::Time last_start() const { return last_start_; }
  [[nodiscard]] const Cause& last_cause() const { return last_cause_; }
  /// All causes that are kept here.
  void add_causes(std::vector<Cause*>& causes);

 private:
  struct Step {
    std::int64_t replicas = 0;
    core::Time longest;  ///< computation of the replica that the record is of
    core::ReplicaParts parts;
    Cause cause;
    Awaited awaited;
  };

  const core::Cluster& cluster_;
  std::int64_t fellows_;
  std::map<std::int32_t, Step> steps_;  ///< that some replicas have ended
  std::int32_t ended_ = 0;
  core::Time last_end_, last_start_;
  Cause last_cause_;
};

}  // namespace tutti::sim
