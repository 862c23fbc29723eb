#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/workload/layer_times.h"
#include "core/workload/model.h"

namespace tutti::core {

/// The number of passes over the variables' bytes in a momentum update: read weight, gradient and
/// momentum; write weight and momentum.
inline constexpr std::int64_t kUpdatePasses = 5;

/// A part of the backward pass. Some gradients become ready at the end of a backward segment.
struct BackwardSegment {
  std::string layer;
  std::vector<int> variables;  ///< indices into Workload::gradients
};

/// The way in which the values of a variable that replicas keep separately are aggregated when the
/// variable is read (tf.VariableAggregation).
enum class OnReadAggregation : std::uint8_t { kSum, kMean, kOnlyFirstReplica };

/// A variable that replicas keep separately, and that is aggregated when a checkpoint is saved.
struct OnReadVariable {
  std::string name;
  DataType type = DataType::kFloat32;
  std::int64_t elements = 1;
  OnReadAggregation aggregation = OnReadAggregation::kMean;
};

/// The durations of the parts of a replica's training step, on one group of workers.
struct StepTimes {
  Time forward;                       ///< time of one pass
  std::vector<Time> backward;         ///< by segment: time of one pass
  Time update;                        ///< time of the update of all variables together
  std::vector<Time> accumulate = {};  ///< by segment: time to add the gradients to the gradients of
                                      ///< earlier passes, in every pass except the first; empty: no
                                      ///< time
  /// The share of a pass's time that is limited by multiprocessors, in millionths; the rest is
  /// limited by memory bandwidth. If `backward_compute_bound` is empty, the whole backward pass is
  /// limited by multiprocessors.
  std::int64_t forward_compute_bound = 1'000'000;
  std::vector<std::int64_t> backward_compute_bound = {};  ///< by segment
  /// By segment: the time of the segment's layer in the forward pass. The forward pass computes the
  /// layer of the last segment first.
  std::vector<Time> forward_by_segment = {};

  [[nodiscard]] Time backward_total() const;
  [[nodiscard]] Time accumulate_total() const;
  /// Returns the time of a segment in backward pass `pass`, counted from 0, including accumulation.
  [[nodiscard]] Time backward_in_pass(std::size_t segment, std::int32_t pass) const {
    return backward[segment] + (pass > 0 && !accumulate.empty() ? accumulate[segment] : Time());
  }
  /// Returns the share of backward_in_pass() that is limited by multiprocessors, in millionths.
  /// Accumulation is limited by memory bandwidth.
  [[nodiscard]] std::int64_t compute_bound_in_pass(std::size_t segment, std::int32_t pass) const;
  /// Returns the total time of the first `passes` - 1 forward and backward passes, including
  /// accumulation.
  [[nodiscard]] Time early_passes(std::int32_t passes) const;
};

/// The computation of a replica in a training step, and its gradients.
struct Workload {
  std::string name;
  std::vector<Variable>
      gradients;  ///< in creation order, with the types in which gradients are communicated
  std::vector<BackwardSegment>
      segments;  ///< backward segments, in execution order; each gradient belongs to one segment
  std::vector<StepTimes> times;    ///< by group of workers (Cluster::groups)
  std::int32_t micro_batches = 1;  ///< number of forward and backward passes per step; gradients
                                   ///< are communicated in the last pass
  std::string timing;              ///< description of the source of the times
  std::vector<OnReadVariable> on_read = {};
  std::int32_t checkpoint_every = 0;  ///< number of steps between checkpoints; 0: no checkpoints

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
  /// The share of the time of both passes that is limited by multiprocessors, in millionths.
  std::optional<std::int64_t> compute_bound_ppm;
};

/// The maximum number of forward and backward passes in a step.
inline constexpr std::int32_t kMaxMicroBatches = 1 << 16;

/// A reason why a workload cannot be made. `text` is for the user. `field` is the field of the
/// scenario's workload that the reason concerns; empty: the workload as a whole.
struct WorkloadProblem {
  std::string field;
  std::string text;
  ProblemCode code = ProblemCode::kInvalid;
};

/// Makes a workload. The times of layers come from the best source available: measured times
/// (`layer_times`, or times in the list of variables), otherwise FLOPs at `flops_efficiency` of the
/// device's peak rate. A layer with neither measured times nor FLOPs takes no time, and `timing`
/// says so. If `forward` or `backward` is set, the times of the layers in this pass are scaled to
/// this total.
///
/// If there are neither measured times nor FLOPs, `backward` is divided evenly over the gradients,
/// in reverse order of creation. If `backward` is not set either, the backward pass takes no time.
/// ERRORS: the profile does not fit the model; the device has no rate for the type; the batch size
/// is unknown.
tl::expected<Workload, std::vector<WorkloadProblem>> make_workload(const WorkloadOptions& options,
                                                                   const Cluster& cluster);

}  // namespace tutti::core
