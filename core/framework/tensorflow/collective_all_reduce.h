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

/// How TensorFlow's CollectiveAllReduce, which reduces the gradients of MultiWorkerMirroredStrategy, has changed over its
/// releases. Their numbers are those nearest to the sources that were read.
enum class Generation : std::uint8_t {
  kTf115,  ///< 1.12 to 1.15 and 2.0: all_reduce_merge_scope gradients in one collective, in input order; no hint
  kTf21,  ///< 2.1: num_packs chunks by number of gradients, the last first; a hint, and NCCL's launches one after the other
  kTf24,  ///< 2.2 to 2.4: bytes_per_pack, last-created gradients first; timeouts
  kTf25,  ///< 2.5 and later: likewise, but packs are concatenated, and a token orders the collectives of a device
};
/// "TF_1_15", …
std::string_view to_string(Generation generation);

/// What a MultiWorkerMirroredStrategy is made with, and how its program runs.
struct CollectiveAllReduce {
  CommunicationOptions options;              ///< of the strategy
  std::optional<CommunicationOptions> call;  ///< of the call that reduces the gradients
  Generation generation = Generation::kTf24;
  /// ConfigProto.experimental.collective_nccl; nothing: on if the implementation is NCCL and the program is a graph.
  std::optional<bool> collective_nccl;
  bool eager = false;
  /// The optimizer aggregates gradients itself, and updates when it has them all.
  bool aggregates_gradients = true;

  [[nodiscard]] CommunicationOptions merged() const { return merge(options, call); }
};

/// What keeps it from running: texts that name the field (before the colon) and the remedy.
std::vector<StrategyProblem> problems_of(const CollectiveAllReduce& all_reduce);

/// Makes of `strategy` what CollectiveAllReduce does with a batch of so many gradients on this cluster: algorithm (tf_ring or nccl),
/// packing, merging, launches and their order, staging, updates, timers, sparse gradients and checkpoints; notes of how that came
/// about. REQUIRES: problems_of() it are none.
void lower_collective_all_reduce(const CollectiveAllReduce& all_reduce, const Cluster& cluster, std::int64_t gradients,
                                 Strategy& strategy);

}  // namespace tutti::core
