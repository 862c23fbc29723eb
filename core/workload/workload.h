#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/workload/layer_times.h"
#include "core/workload/model.h"

namespace tutti::core {

/// The number of memory passes in an update with momentum: read weight, gradient and momentum;
/// write weight and momentum.
inline constexpr std::int64_t kUpdatePasses = 5;

/// The fraction of the peak rate that layers reach by default. The fraction accounts for the time
/// of kernels that a model does not list, such as activation functions and additions between
/// matrices.
inline constexpr double kEfficiency = 0.5;
/// The fraction for convolutions in float32 without tensor cores. The kernels between convolutions
/// have times of their own (layer_traffic.h). SOURCE: ResNet-50 in float32 on a V100 trains 367
/// images/s in NVIDIA's DeepLearningExamples, and 374 and 328 images/s (batch size 32) in PyTorch's
/// benchmark of DDP. The batch normalizations and activation functions take a quarter of the time,
/// so the convolutions run at 78, 80 and 67 % of 15.7 TFLOP/s.
inline constexpr double kEfficiencyOfConvolutions = 0.75;

/// A part of the backward pass. When a segment ends, the gradients of its variables become ready.
struct BackwardSegment {
  std::string layer;
  std::vector<int> variables;  ///< indices into Workload::gradients
};

/// The operation that combines the values of an OnReadVariable on all replicas into one value
/// (tf.VariableAggregation).
enum class OnReadAggregation : std::uint8_t { kSum, kMean, kOnlyFirstReplica };

/// A variable that has a separate value on each replica. When a checkpoint is saved, the values of
/// all replicas are aggregated.
struct OnReadVariable {
  std::string name;
  DataType type = DataType::kFloat32;
  std::int64_t elements = 1;
  OnReadAggregation aggregation = OnReadAggregation::kMean;
};

/// The durations of the parts of a replica's training step, on one group of workers.
struct StepTimes {
  Time forward;                       ///< time of one pass
  std::vector<Time> backward;         ///< for each segment: time of one pass
  Time update;                        ///< time to update all variables
  std::vector<Time> accumulate = {};  ///< for each segment: time to add its gradients to the sum of
                                      ///< the previous passes, in every pass except the first;
                                      ///< empty: no time
  /// The fraction of the time of a pass in which the number of multiprocessors limits the speed, in
  /// millionths; in the rest of the time, memory bandwidth limits it. If `backward_compute_bound`
  /// is empty, the fraction is 1 in the whole backward pass.
  std::int64_t forward_compute_bound = 1'000'000;
  std::vector<std::int64_t> backward_compute_bound = {};  ///< for each segment
  /// For each segment: the time of its layer in the forward pass. The forward pass runs in the
  /// reverse order of the segments: it begins with the layer of the last segment.
  std::vector<Time> forward_by_segment = {};

  [[nodiscard]] Time backward_total() const;
  [[nodiscard]] Time accumulate_total() const;
  /// Returns the time of a segment in the backward pass with index `pass` (from 0), including
  /// accumulation.
  [[nodiscard]] Time backward_in_pass(std::size_t segment, std::int32_t pass) const {
    return backward[segment] + (pass > 0 && !accumulate.empty() ? accumulate[segment] : Time());
  }
  /// Returns the fraction of backward_in_pass() that is limited by multiprocessors, in millionths.
  /// Accumulation is limited by memory bandwidth.
  [[nodiscard]] std::int64_t compute_bound_in_pass(std::size_t segment, std::int32_t pass) const;
  /// Returns the total time of all forward and backward passes before the last of `passes` passes,
  /// including accumulation.
  [[nodiscard]] Time early_passes(std::int32_t passes) const;
};

/// The times in a pass in which a device idles, because the host has not yet launched the next
/// kernel. nullopt: the pass has no gap at this point. A gap of 0 marks a point at which
/// Conditions::late gives some devices a gap; the other devices have none.
struct HostGaps {
  std::optional<Time> forward;                ///< before the forward pass
  std::vector<std::optional<Time>> backward;  ///< before each segment; empty: no gaps

  [[nodiscard]] std::optional<Time> before(std::size_t segment) const {
    return segment < backward.size() ? backward[segment] : std::nullopt;
  }
  /// Returns the total time of the gaps of a forward and a backward pass.
  [[nodiscard]] Time total() const;
};

/// The computation of a replica in a training step, and its gradients.
struct Workload {
  std::string name;
  std::vector<Variable>
      gradients;  ///< in creation order, with the types in which gradients are communicated
  std::vector<BackwardSegment> segments;  ///< backward segments in the order of execution; each
                                          ///< gradient belongs to one segment
  std::vector<StepTimes>
      times;  ///< for each group of workers that holds replicas (Cluster::replica_groups)
  std::int32_t micro_batches = 1;  ///< number of forward and backward passes per step; gradients
                                   ///< are communicated in the last pass
  std::optional<Precision> precision = {};  ///< set if the times follow from FLOPs
  std::string timing;                       ///< description of where the times come from
  std::vector<OnReadVariable> on_read = {};
  std::int32_t checkpoint_every = 0;  ///< number of steps from one checkpoint to the next; 0: no
                                      ///< checkpoints
  HostGaps gaps = {};

  [[nodiscard]] Bytes bytes() const;
  /// Returns a workload with only the gradients whose indices are in `kept`, in this order. The
  /// result has no `on_read` variables and no checkpoints, but all segments, because their
  /// computation takes time. REQUIRES: the indices in `kept` are distinct.
  [[nodiscard]] Workload with_gradients(const std::vector<int>& kept) const;
};

struct WorkloadOptions {
  Model model;
  std::optional<LayerTimes> layer_times;
  std::optional<std::int64_t> batch;
  std::optional<DataType> gradient_type;
  std::optional<Precision> precision;  ///< default: the type of the model's first variable
  /// The fraction of the peak rate that layers reach; nullopt: kEfficiency, or
  /// kEfficiencyOfConvolutions for convolutions in float32.
  std::optional<double> flops_efficiency = {};
  std::optional<bool> channels_last = {};  ///< as LayerTraffic::Options::channels_last
  std::optional<Time> forward;
  std::optional<Time> backward;
  std::optional<Time> update;
  bool recomputes = false;  ///< true if the backward pass of a layer repeats its forward pass
  std::int32_t micro_batches = 1;
  std::optional<Time> accumulate;
  /// The fraction of the time of both passes in which the number of multiprocessors limits the
  /// speed, in millionths.
  std::optional<std::int64_t> compute_bound_ppm;
  std::optional<Time> forward_gap;  ///< as HostGaps::forward
};

/// The maximum number of micro-batches, each with a forward and a backward pass, in a step.
inline constexpr std::int32_t kMaxMicroBatches = 1 << 16;

/// A reason why a workload cannot be made. `text` is a message for the user. `field` is the name of
/// the invalid field in the scenario's workload; it is empty if the reason is not a single field.
struct WorkloadProblem {
  std::string field;
  std::string text;
  ProblemCode code = ProblemCode::kInvalid;
};

/// Makes a workload. The times of layers come from the best available source: measured times
/// (`layer_times`, or times in the list of variables), otherwise FLOPs at `flops_efficiency` of the
/// device's peak rate. Times from FLOPs also include the time for moving activations and for
/// launching kernels. A layer without measured times and without FLOPs takes no time, and
/// Workload::timing says so. If `forward` or `backward` is set, the layers' times in this pass are
/// scaled to this total.
///
/// If there are neither measured times nor FLOPs, `backward` is divided equally among the layers
/// (Variable::layer), beginning with the last layer. If `backward` is not set either, the backward
/// pass takes no time.
/// ERRORS: the profile does not fit the model; the device's rate for the data type is unknown; the
/// batch size is unknown; a step would compute for more than a day.
tl::expected<Workload, std::vector<WorkloadProblem>> make_workload(const WorkloadOptions& options,
                                                                   const Cluster& cluster);

}  // namespace tutti::core
