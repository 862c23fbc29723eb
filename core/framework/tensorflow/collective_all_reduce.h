#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/framework/tensorflow/communication_options.h"

namespace tutti::core {

struct Strategy;
struct StrategyProblem;
class Cluster;

/// The versions of TensorFlow's CollectiveAllReduce, which reduces the gradients of
/// MultiWorkerMirroredStrategy. Each is named after the release nearest to the sources on which it
/// is based.
enum class Generation : std::uint8_t {
  kTf115,  ///< 1.12 to 1.15 and 2.0: all_reduce_merge_scope gradients per collective, in input
           ///< order; no hint
  kTf21,   ///< 2.1: num_packs chunks with equal gradient counts, the last first; a hint; NCCL's
           ///< launches are serial
  kTf24,   ///< 2.2 to 2.4: bytes_per_pack, last-created gradients first; timeouts
  kTf25,   ///< 2.5 and later: like 2.4, but packs are concatenated, and a token orders the
           ///< collectives of a device
};
/// Returns the name: "TF_1_15", ….
std::string_view to_string(Generation generation);

/// The options of a MultiWorkerMirroredStrategy, and how its program runs.
struct CollectiveAllReduce {
  CommunicationOptions options;              ///< options of the strategy
  std::optional<CommunicationOptions> call;  ///< options of the call that reduces the gradients
  Generation generation = Generation::kTf24;
  /// ConfigProto.experimental.collective_nccl; nullopt: on if the implementation is NCCL and the
  /// program is a graph.
  std::optional<bool> collective_nccl;
  bool eager = false;
  /// True if the optimizer aggregates gradients itself, and updates once it has all of them.
  bool aggregates_gradients = true;

  [[nodiscard]] CommunicationOptions merged() const { return merge(options, call); }
};

/// Returns the problems that prevent it from running: texts with the field (before the colon) and
/// the remedy.
std::vector<StrategyProblem> problems_of(const CollectiveAllReduce& all_reduce);

/// Sets `strategy` to what CollectiveAllReduce does with a batch of `gradients` gradients on this
/// cluster: algorithm (tf_ring or nccl), packing, merging, launches and their order, staging,
/// updates, timers, sparse gradients and checkpoints; adds notes on the reasons. REQUIRES: its
/// problems_of() is empty.
void lower_collective_all_reduce(const CollectiveAllReduce& all_reduce, const Cluster& cluster,
                                 std::int64_t gradients, Strategy& strategy);

}  // namespace tutti::core
