#pragma once

#include <string>
#include <vector>

#include "core/import/measured_run.h"

namespace tutti::core {

/// The common structure of a run's steps: medians over all steps with the same gradients and packs,
/// and over all ranks.
struct StepModel {
  struct Layer {
    std::string name;
    std::int64_t backward_ns = 0;  ///< time from the gradients of the previous layer to the
                                   ///< gradients of this layer
  };
  struct Gradient {
    std::string name;            ///< layer and index in the layer, such as "Convolution_3.0"
    std::int64_t elements = -1;  ///< -1: not in the trace
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
    std::int64_t duration_ns = -1;  ///< median over the steps of the pack's time on the rank that
                                    ///< started the pack last
    std::int32_t group = -1;
    std::string algorithm, protocol;
    std::int32_t channels = -1;
  };
  /// All collectives of one kind, size and group, except all-reduces of gradients.
  struct Exchange {
    MeasuredKind kind = MeasuredKind::kOther;
    std::int32_t group = -1;
    std::int64_t bytes = -1;
    ElementType type;
    std::int64_t per_forward = 0,
                 per_backward = 0;  ///< number of exchanges per step; an exchange during the update
                                    ///< counts as one of the backward pass
    bool overlaps = false;          ///< true if computation continues for most of the time of the
                                    ///< exchanges
  };
  std::vector<Layer> layers;        ///< the model's layers, in the order of the backward pass
  std::vector<Gradient> gradients;  ///< the model's gradients, in the order in which they become
                                    ///< ready
  std::vector<Pack> packs;  ///< the packs of a step, in the order in which the host issues them
  std::vector<Exchange> exchanges;
  std::int64_t step_ns = 0;
  /// The time from the start of the step to the start of the backward pass. The times of the
  /// forward pass and of layers exclude intervals in which an exchange was in flight and nothing
  /// was computed.
  std::int64_t forward_ns = 0;
  std::int64_t backward_ns = 0;
  std::int64_t update_ns = 0;    ///< time from the last gradient or the end of the last pack,
                                 ///< whichever is later, to the end of the step
  std::int64_t steps = 0;        ///< number of steps that the medians include
  std::int64_t other_steps = 0;  ///< number of steps that the medians exclude, because these steps
                                 ///< have other gradients or packs
};

/// Returns the model of a run; empty if the run has no steps. REQUIRES: the run has ranks.
StepModel step_model(const MeasuredRun& run);

/// Shifts the times of each rank so that collectives end at the same time on all ranks, because the
/// clocks of hosts differ by milliseconds. Adds a note if any times are shifted.
void align_clocks(MeasuredRun& run);

}  // namespace tutti::core
