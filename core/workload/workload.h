#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/workload/layer_times.h"
#include "core/workload/model.h"

namespace tutti::core {

/// A stretch of the backward pass, at whose end some gradients are ready.
struct BackwardSegment {
  std::string layer;
  std::vector<int> variables;  ///< indices
};

/// How long the parts of one replica's step take on one kind of worker.
struct StepTimes {
  Time forward;
  std::vector<Time> backward;  ///< per segment
  Time update;                 ///< of all variables together

  [[nodiscard]] Time backward_total() const;
};

/// What every replica computes in a step, and what its gradients are.
struct Workload {
  std::string name;
  std::vector<Variable> gradients;        ///< in creation order, with the type in which they travel
  std::vector<BackwardSegment> segments;  ///< in the order of the backward pass; each gradient is in exactly one
  std::vector<StepTimes> times;           ///< per group of workers (Cluster::groups)
  std::string timing;                     ///< where the times come from, in words

  [[nodiscard]] Bytes bytes() const;
};

struct WorkloadOptions {
  Model model;
  std::optional<LayerTimes> layer_times;
  std::optional<std::int64_t> batch;
  std::optional<DataType> gradient_type;
  double flops_efficiency = 0.5;
  std::optional<Time> forward;
  std::optional<Time> backward;
  std::optional<Time> update;
};

/// What keeps a workload from being made: a text for the user, and the field of the scenario's workload that it is about
/// (empty: the workload as a whole).
struct WorkloadProblem {
  std::string field;
  std::string text;
};

/// Times, best source first: measured per layer (`layer_times`, or times in the variable list), else FLOPs of the
/// layers at `flops_efficiency` of the device's peak rate (a layer without either takes no time, and `timing` says so);
/// `forward` and `backward` then scale them. A model with
/// neither runs its backward pass in no time, or evenly over its gradients, last-created first, if `backward` is given.
/// ERRORS: a profile that does not fit the model, a device without a rate for the type, no batch.
tl::expected<Workload, std::vector<WorkloadProblem>> make_workload(const WorkloadOptions& options,
                                                                   const Cluster& cluster);

}  // namespace tutti::core
