#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/workload/layer_times.h"
#include "core/workload/model.h"

namespace tutti::core {

/// The number of accesses to the variables in a momentum update: read weight, gradient and
/// momentum, write weight and momentum.
inline constexpr std::int64_t kUpdatePasses = 5;

/// A part of the backward pass, after which some gradients are ready.
struct BackwardSegment {
  std::string layer;
  std::vector<int> variables;  ///< indices into Workload::gradients
};

/// The reduction of values that replicas keep separately, when they are read
/// (tf.VariableAggregation).
enum class OnReadAggregation : std::uint8_t { kSum, kMean, kOnlyFirstReplica };

/// A variable that replicas keep separately, and that is aggregated when it is saved.
struct OnReadVariable {
  std::string name;
  DataType type = DataType::kFloat32;
  std::int64_t elements = 1;
  OnReadAggregation aggregation = OnReadAggregation::kMean;
};

/// The durations of the parts of one replica's training step on one kind of worker.
struct StepTimes {
  Time forward;                ///< time of one pass
  std::vector<Time> backward;  ///< by segment: time in one pass
  Time update;                 ///< time of the update of all variables together
  std::vector<Time> accumulate =
      {};  ///< by segment: time to add to earlier gradients, in every pass but the first
  /// The share of a pass that is limited by multiprocessors, in millionths; the rest waits for
  /// memory. If `backward_compute_bound` is empty, all of the backward pass is.
  std::int64_t forward_compute_bound = 1'000'000;
  std::vector<std::int64_t> backward_compute_bound = {};  ///< by segment
  /// The forward pass by the segments' layers, in the order of the segments (so the last one is
  /// computed first).
  std::vector<Time> forward_by_segment = {};

  [[nodiscard]] Time backward_total() const;
  [[nodiscard]] Time accumulate_total() const;
  /// The time of a segment in pass `pass`, counted from 0. Without `accumulate`, accumulation takes
  /// no time.
  [[nodiscard]] Time backward_in_pass(std::size_t segment, std::int32_t pass) const {
    return backward[segment] + (pass > 0 && !accumulate.empty() ? accumulate[segment] : Time());
  }
  /// The share of that time that is limited by multiprocessors; none of the accumulation is.
  [[nodiscard]] std::int64_t compute_bound_in_pass(std::size_t segment, std::int32_t pass) const;
  /// The time of all but the last of `passes` forward and backward passes, with accumulation.
  [[nodiscard]] Time early_passes(std::int32_t passes) const;
};

/// The computation of a replica in a training step, and its gradients.
struct Workload {
  std::string name;
  std::vector<Variable>
      gradients;  ///< in creation order, with the types in which they are communicated
  std::vector<BackwardSegment>
      segments;  ///< in the order of the backward pass; each gradient belongs to exactly one
  std::vector<StepTimes> times;    ///< by group of workers (Cluster::groups)
  std::int32_t micro_batches = 1;  ///< number of forward and backward passes per step; gradients
                                   ///< are sent in the last pass
  std::string timing;              ///< description of the source of the times
  std::vector<OnReadVariable> on_read = {};
  std::int32_t checkpoint_every = 0;  ///< number of steps between checkpoints; 0: nothing is saved

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
  std::int32_t micro_batches = 1;
  std::optional<Time> accumulate;
  std::optional<std::int64_t> compute_bound_ppm;  ///< share of both passes that multiprocessors
                                                  ///< limit, in millionths
};

/// The maximum number of forward and backward passes in a step.
inline constexpr std::int32_t kMaxMicroBatches = 1 << 16;

/// A reason why a workload cannot be made: a text for the user, and the field of the scenario's
/// workload that it concerns (empty: the workload as a whole).
struct WorkloadProblem {
  std::string field;
  std::string text;
  ProblemCode code = ProblemCode::kInvalid;
};

/// Makes a workload. Its times come from the best source available: times measured per layer
/// (`layer_times`, or times in the variable list), else FLOPs of the layers at `flops_efficiency`
/// of the device's peak rate (a layer without either takes no time, and `timing` says so);
/// `forward` and `backward` then scale them. Without both, the backward pass takes no time, or, if
/// `backward` is given, that time divided evenly over the gradients, last-created first.
/// ERRORS: a profile that does not fit the model, a device without a rate for the type, no batch.
tl::expected<Workload, std::vector<WorkloadProblem>> make_workload(const WorkloadOptions& options,
                                                                   const Cluster& cluster);

}  // namespace tutti::core
