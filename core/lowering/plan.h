#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/notes.h"
#include "core/lowering/bucket.h"
#include "core/plan/gate/gate_rule.h"
#include "core/strategy/collective.h"
#include "core/strategy/collective_times.h"
#include "core/strategy/communicator.h"
#include "core/strategy/strategy.h"
#include "core/strategy/varying_sizes.h"
#include "core/workload/workload.h"

namespace tutti::core {

/// The phase of a training step that a pack belongs to.
enum class PackPhase : std::uint8_t {
  kGradients,   ///< launched once its gradients are ready
  kRead,        ///< variables that are read from their servers when the step begins; layers wait for theirs
  kCheckpoint,  ///< variables that are brought together to be saved, once everything else of the step is over
};

/// The kind of data that a pack carries.
enum class PackContent : std::uint8_t {
  kValues,   ///< elements of variables or gradients
  kIndices,  ///< of the rows that a sparse gradient's values are
  kLengths,  ///< how many rows each replica has
};

/// The data that a collective carries.
struct Payload {
  std::vector<Member> members;
  PackContent content = PackContent::kValues;
  /// If it is not the strategy's.
  std::optional<Reduction> reduction = std::nullopt;
  /// TensorFlow's instance key of the collective (collective_keys.h); 0: it has none.
  std::int64_t instance_key = 0;
  /// PackPhase::kCheckpoint: the variable (Workload::on_read); it has no members.
  int on_read = -1;
};

/// A collective of a plan, in all the groups of replicas that carry it out at the same time.
struct PlannedCollective {
  Collective first;  ///< in the first group; PlannedCollective::in() computes the others
  /// The groups; nothing: all replicas together.
  std::optional<Partition> groups = std::nullopt;
  Time launch_overhead = {};                         ///< if no model of its times has one of its own
  std::optional<VaryingSizes> sizes = std::nullopt;  ///< nothing: every time the same, as `first` has them

  [[nodiscard]] std::int64_t number_of_groups() const { return groups ? groups->groups() : 1; }
  /// Every occurrence is the same, but for the group.
  [[nodiscard]] bool is_fixed() const { return !sizes; }
  /// The same in another group, with full blocks. REQUIRES: group < number_of_groups().
  [[nodiscard]] Collective in(std::int64_t group) const;
  /// Returns the collective that a group carries out at one occurrence.
  [[nodiscard]] Collective in(std::int64_t group, const Occurrence& occurrence) const;
  /// Returns the group and the rank of a replica.
  [[nodiscard]] Partition::Place place(std::int64_t replica) const {
    return groups ? groups->place(replica) : Partition::Place{0, replica};
  }
  /// The replica at a place. REQUIRES: the rank is no helper's.
  [[nodiscard]] std::int64_t replica(Partition::Place place) const {
    return groups ? groups->replica(place) : place.rank;
  }
};
/// The index of a collective in Plan::collectives.
using CollectiveId = std::int32_t;

/// Gradients that travel as one buffer, and how.
struct Pack {
  Payload payload;
  CollectiveId collective = -1;
  /// Bytes that a device copies before the pack can start and after it is complete (into and out of the buffer).
  Bytes copied_in = {};
  Bytes copied_out = {};
  /// Bytes that a device reads and writes to convert the pack as a whole before it starts (Compression::of_packs), and to
  /// convert its gradients back.
  Bytes converted_in = {};
  Bytes converted_out = {};
  /// The pack that must be complete on a device before this one starts there; -1: none.
  int after = -1;
  /// The pack starts once all gradients (of its entry) are ready, not only its own; copies out, and with them updates, wait
  /// for the last such pack. num_packs: packs are cut from a concatenation, and concatenated before they are cut back.
  bool needs_all_gradients = false;
  /// The entry of the strategy's spec by which it travels, and its number among that entry's packs.
  int entry = 0;
  int turn = 0;
  /// The pack also waits for this gradient, which is not in it (the one that did not fit into its bucket any more); -1: none.
  int also_needs = -1;
  PackPhase phase = PackPhase::kGradients;
  /// For a pull: the index of its push, whose sum this pack returns. The server and each replica
  /// start the pull once they have completed the push. -1: this pack is not a pull.
  int answers = -1;
};

/// The packs of a training step in launch order: the order in which serialised packs start, and concurrent ones that are
/// ready at the same time.
struct Plan {
  /// The collectives of all packs and exchanges, each listed once.
  std::vector<PlannedCollective> collectives;
  std::vector<Pack> packs;
  /// By gradient: the entry of the strategy's spec that takes it. Empty: there is no spec.
  std::vector<int> entry_of_gradient;
  /// Replicas go on with the backward pass only when the packs that are ready are complete.
  bool computation_waits = false;
  Update update = Update::kPerPack;
  std::optional<Compression> compression;
  /// The groups of replicas that reduce gradients; nullopt: one group of all replicas.
  std::optional<Partition> partition;
  std::vector<PlannedExchange> exchanges;
  /// The rule that decides when packs of gradients may start (gates.h); null: there is none.
  std::shared_ptr<const GateRule> gate;
  /// Times of the collectives that are made while the plan is executed (fuses()); null: by their schedules.
  std::shared_ptr<const CollectiveTimes> collective_times;
  std::int32_t checkpoint_every = 0;  ///< steps; 0: there are no packs of checkpoints
  /// What a reader should know about how this differs from what was asked, or from TensorFlow.
  Notes notes;

  CollectiveId add(PlannedCollective collective);
  /// Returns a pack that carries `members` by a collective that is added, with the defaults of everything else. The groups are
  /// those of `partition`.
  Pack pack_of(std::vector<Member> members, Collective first, Time launch_overhead = {});
  [[nodiscard]] const Collective& collective(const Pack& pack) const { return planned(pack.collective).first; }
  [[nodiscard]] const Collective& collective(const PlannedExchange& exchange) const {
    return planned(exchange.collective).first;
  }
  [[nodiscard]] const PlannedCollective& planned(CollectiveId id) const {
    return collectives[static_cast<std::size_t>(id)];
  }

  /// True if the packs to fuse are chosen while the plan is executed.
  [[nodiscard]] bool fuses() const { return gate && gate->fuses(); }
  /// True if the pack has to pass the gate: packs of gradients do, except pulls.
  [[nodiscard]] bool passes_gate(const Pack& pack) const {
    return gate && pack.phase == PackPhase::kGradients && pack.answers < 0;
  }

  [[nodiscard]] Bytes bytes() const;
  /// A collective of those with the most ranks. Ranks that others have too are the same devices there.
  [[nodiscard]] const Collective& widest() const;
};

/// The pack is part of step `step`, counted from 0.
bool takes_part(const Plan& plan, const Pack& pack, std::int32_t step);
/// Returns, for each pack, the index of its pull (Pack::answers), or -1.
std::vector<int> answers_to(const Plan& plan);
/// Returns the reduction of `pack`, which belongs to a plan of `strategy`.
Reduction reduction_of(const Strategy& strategy, const Pack& pack);

/// The strategy by which `pack` of a plan of `strategy` travels: without a spec.
Strategy strategy_of(const Strategy& strategy, const Pack& pack);

/// What would travel, and among whom. ERRORS (texts): num_packs over gradients of different types, no gradients with elements.
/// REQUIRES: problems_of(strategy, cluster) and those of all communicators are empty; at most one splits the model;
/// `cluster` outlives the plan.
tl::expected<Plan, StrategyProblem> make_plan(const Workload& workload, const Strategy& strategy,
                                              const Cluster& cluster,
                                              const std::vector<Communicator>& communicators = {});

}  // namespace tutti::core
