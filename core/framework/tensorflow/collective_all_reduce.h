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
/// MultiWorkerMirroredStrategy. Each version is named after the TensorFlow release that is nearest
/// to the source code that it models.
enum class Generation : std::uint8_t {
  kTf115,  ///< TensorFlow 1.12 to 1.15 and 2.0: all_reduce_merge_scope gradients per collective, in
           ///< input order; no implementation hint
  kTf21,   ///< TensorFlow 2.1: num_packs chunks with equal numbers of gradients, the last chunk
           ///< first; implementation hint; serial NCCL launches
  kTf24,   ///< TensorFlow 2.2 to 2.4: bytes_per_pack, gradients created last first; timeouts
  kTf25,   ///< TensorFlow 2.5 and later: like 2.4, except that packs are concatenated and a token
           ///< orders the collectives of a device
};
/// Returns the name: "TF_1_15", ….
std::string_view to_string(Generation generation);

/// The options of a MultiWorkerMirroredStrategy and of the program that uses it.
struct CollectiveAllReduce {
  CommunicationOptions options;              ///< options of the strategy
  std::optional<CommunicationOptions> call;  ///< options of the call that reduces the gradients
  Generation generation = Generation::kTf24;
  /// ConfigProto.experimental.collective_nccl; nullopt: on if the implementation is NCCL and the
  /// program runs in graph mode.
  std::optional<bool> collective_nccl;
  bool eager = false;
  /// True if the optimizer aggregates the gradients, and updates the variables once all gradients
  /// are reduced.
  bool aggregates_gradients = true;

  [[nodiscard]] CommunicationOptions merged() const { return merge(options, call); }
};

/// Returns the reasons why TensorFlow would not run with these options. Each text begins with the
/// field's name and a colon, and includes the remedy.
std::vector<StrategyProblem> problems_of(const CollectiveAllReduce& all_reduce);

/// Sets all fields of `strategy` that CollectiveAllReduce determines for a batch of `gradients`
/// gradients on this cluster: algorithm (tf_ring or nccl), packing, merging, launches and their
/// order, staging, updates, timers, sparse gradients and checkpoints. Adds notes with the reasons
/// for the chosen values. REQUIRES: problems_of(all_reduce) is empty.
void lower_collective_all_reduce(const CollectiveAllReduce& all_reduce, const Cluster& cluster,
                                 std::int64_t gradients, Strategy& strategy);

}  // namespace tutti::core
