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

/// The generations of TensorFlow's CollectiveAllReduce, which reduces the gradients of
/// MultiWorkerMirroredStrategy. Each generation is named after one of the TensorFlow releases that
/// belong to it.
enum class Generation : std::uint8_t {
  kTf115,  ///< TensorFlow 1.12 to 1.15 and 2.0: merges all_reduce_merge_scope gradients per
           ///< collective, in input order; has no implementation hint
  kTf21,   ///< TensorFlow 2.1: divides gradients into num_packs chunks with equal numbers of
           ///< gradients and reduces the last chunk first; has an implementation hint; launches
           ///< NCCL serially
  kTf24,   ///< TensorFlow 2.2 to 2.4: packs by bytes_per_pack and starts with the gradients that
           ///< were created last; has timeouts
  kTf25,   ///< TensorFlow 2.5 and later: like kTf24, but concatenates the gradients of a pack and
           ///< orders the collectives of a device by a token
};
/// Returns the name: "TF_1_15", ….
std::string_view to_string(Generation generation);

/// The options of a MultiWorkerMirroredStrategy, and of the program that uses this strategy.
struct CollectiveAllReduce {
  CommunicationOptions options;              ///< options of the strategy
  std::optional<CommunicationOptions> call;  ///< options in the call that reduces the gradients
  Generation generation = Generation::kTf24;
  /// The value of ConfigProto.experimental.collective_nccl; nullopt: true if the implementation is
  /// NCCL and the program runs in graph mode.
  std::optional<bool> collective_nccl;
  bool eager = false;
  /// True if the optimizer itself reduces the gradients, and then updates all variables after all
  /// gradients are reduced.
  bool aggregates_gradients = true;

  [[nodiscard]] CommunicationOptions merged() const { return merge(options, call); }
};

/// Returns the reasons why TensorFlow would not run with these options. Each text begins with the
/// name of the field and a colon, and says how to solve the problem.
std::vector<StrategyProblem> problems_of(const CollectiveAllReduce& all_reduce);

/// Sets all fields of `strategy` that CollectiveAllReduce determines: algorithm (tf_ring or nccl),
/// packing, merging, launches and their order, staging, updates, timers, sparse gradients and
/// checkpoints. `gradients` is the number of gradients that are reduced together. Also adds notes
/// that explain the chosen values.
/// REQUIRES: problems_of(all_reduce) is empty.
void lower_collective_all_reduce(const CollectiveAllReduce& all_reduce, const Cluster& cluster,
                                 std::int64_t gradients, Strategy& strategy);

}  // namespace tutti::core
