#pragma once

#include <string>
#include <vector>

#include "core/import/measured_run.h"

namespace tutti::core {

/// A model of the training step of a measured run. Times are medians over all ranks, and over all
/// steps that have the usual gradients and packs.
struct StepModel {
  struct Layer {
    std::string name;
    std::int64_t backward_ns = 0;  ///< time between the last gradient of the previous layer and the
                                   ///< last gradient of this layer, without `gap_ns`
    std::int64_t gap_ns = 0;       ///< time between these two gradients in which the device idles:
                                   ///< nothing is computed, and no collective is in flight
  };
  struct Gradient {
    std::string name;            ///< layer and index in the layer, such as "Convolution_3.0"
    std::int64_t elements = -1;  ///< number of elements; -1 if the trace does not contain it
    ElementType type;
    std::vector<std::int64_t> shape;
    std::int32_t layer = 0;
    std::int32_t pack = -1;  ///< index of the pack; -1: no all-reduce of this gradient was found
  };
  struct Pack {
    std::int64_t bytes = -1;
    ElementType type;
    std::vector<std::int32_t> gradients;  ///< the pack's gradients, in the order in which they
                                          ///< become ready
    std::int64_t duration_ns = -1;  ///< time of the pack's all-reduce, including waiting for late
                                    ///< ranks: median over all ranks and steps
    std::int32_t group = -1;
    std::string algorithm, protocol;
    std::int32_t channels = -1;
  };
  /// All collectives of a step with the same kind, size and group, except all-reduces of gradients.
  struct Exchange {
    MeasuredKind kind = MeasuredKind::kOther;
    std::int32_t group = -1;
    std::int64_t bytes = -1;
    ElementType type;
    std::int64_t per_forward = 0,
                 per_backward = 0;  ///< number of exchanges in each pass; an exchange during the
                                    ///< update counts as one in the backward pass
    bool overlaps = false;          ///< true if computation continues during most of the exchanges'
                                    ///< time
  };
  std::vector<Layer> layers;        ///< the model's layers, in the order of the backward pass
  std::vector<Gradient> gradients;  ///< the model's gradients, in the order in which they become
                                    ///< ready
  std::vector<Pack> packs;  ///< the packs of a step, in the order in which the host issues them
  std::vector<Exchange> exchanges;
  std::int64_t step_ns = 0;
  /// The time from the start of the step to the start of the backward pass. The times of the
  /// forward pass and of layers exclude intervals in which an exchange was in flight and nothing
  /// was computed, and intervals in which the device idles.
  std::int64_t forward_ns = 0;
  std::int64_t forward_gap_ns = 0;  ///< time in which the device idles between the last pack of the
                                    ///< previous step and the backward pass
  std::int64_t backward_ns = 0;     ///< time of the backward pass, including gaps
  std::int64_t update_ns = 0;  ///< time from the moment at which all gradients are ready and all
                               ///< packs have ended to the end of the step, without idle time
  bool has_buckets = false;    ///< true if packs are the buckets of PyTorch DDP
  std::int64_t steps = 0;      ///< number of steps that the medians include, summed over all ranks
  std::int64_t other_steps = 0;  ///< number of steps that the medians exclude, because they have
                                 ///< other gradients or packs, summed over all ranks
};

/// Returns the steps of a run with the indices `from` to `to` - 1 on each rank, with their
/// computation and collectives.
MeasuredRun steps_of_run(const MeasuredRun& run, std::size_t from, std::size_t to);

/// Returns the model of a run; empty if the run has no steps. REQUIRES: the run has ranks.
StepModel step_model(const MeasuredRun& run);

/// Corrects the clocks of hosts, which differ by milliseconds: shifts the times of each rank so
/// that collectives end at the same time on all ranks. Adds a note if any times are shifted.
void align_clocks(MeasuredRun& run);

}  // namespace tutti::core
