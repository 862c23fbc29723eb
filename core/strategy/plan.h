#pragma once

#include <string>
#include <vector>

#include "core/strategy/collective.h"
#include "core/strategy/communicator.h"
#include "core/strategy/framework.h"
#include "core/strategy/strategy.h"
#include "core/workload/workload.h"

namespace tutti::core {

/// Gradients that travel as one buffer, and how.
struct Pack {
  std::vector<Member> members;
  Collective collective;
  /// Bytes that a device copies before the pack can start and after it is complete (into and out of the buffer).
  Bytes copied_in = {};
  Bytes copied_out = {};
  /// Bytes that a device reads and writes to convert the pack as a whole before it starts (Compression::of_packs), and to
  /// convert its gradients back.
  Bytes converted_in = {};
  Bytes converted_out = {};
  /// The pack that must be complete on a device before this one starts there; -1: none.
  int after = -1;
  /// The pack starts once every gradient of the step is ready, not only its own (num_packs concatenates them all).
  bool needs_all_gradients = false;
  /// The pack also waits for this gradient, which is not in it (the one that did not fit into its bucket any more); -1: none.
  int also_needs = -1;
};

/// The packs of a training step in launch order: the order in which serialised packs start, and concurrent ones that are
/// ready at the same time.
struct Plan {
  std::vector<Pack> packs;
  /// Copies out, and with them updates, wait for the last pack (num_packs: the packs are concatenated before they are
  /// cut back into gradients).
  bool unpacks_at_the_end = false;
  /// Replicas go on with the backward pass only when the packs that are ready are complete.
  bool computation_waits = false;
  Update update = Update::kPerPack;
  Time launch_overhead;
  std::optional<Compression> compression;
  /// Of the replicas, by whom gradients are reduced; nothing: all of them together. Packs have the first group's collective.
  std::optional<Partition> partition;
  std::vector<PlannedExchange> exchanges;
  /// What a reader should know about how this differs from what was asked, or from TensorFlow.
  std::vector<std::string> notes;

  [[nodiscard]] Bytes bytes() const;
};

/// What would travel, and among whom. ERRORS (texts): num_packs over gradients of different types, no gradients with elements.
/// REQUIRES: problems_of(strategy, cluster) and those of all communicators are empty; at most one splits the model;
/// `cluster` outlives the plan.
tl::expected<Plan, StrategyProblem> make_plan(const Workload& workload, const Strategy& strategy,
                                              const Cluster& cluster,
                                              const std::vector<Communicator>& communicators = {});

}  // namespace tutti::core
