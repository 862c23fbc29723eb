#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/notes.h"
#include "core/lowering/bucket.h"
#include "core/plan/gate/gate_rule.h"
#include "core/replay/execution_graph.h"
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
  kRead,        ///< variables read from their servers as the step begins; each layer waits for its
                ///< variables
  kCheckpoint,  ///< variables aggregated for saving, after the rest of the step
};

/// The kind of data that a pack carries.
enum class PackContent : std::uint8_t {
  kValues,   ///< elements of variables or gradients
  kIndices,  ///< indices of the rows of a sparse gradient
  kLengths,  ///< the number of rows of each replica
};

/// The data that a collective carries.
struct Payload {
  std::vector<Member> members;
  PackContent content = PackContent::kValues;
  /// nullopt: the strategy's.
  std::optional<Reduction> reduction = std::nullopt;
  /// TensorFlow's instance key of the collective (collective_keys.h); 0: it has none.
  std::int64_t instance_key = 0;
  /// PackPhase::kCheckpoint: the variable (Workload::on_read); it has no members.
  int on_read = -1;
  /// The name of a collective of an execution trace, which has no members; else empty.
  std::string name = {};
};

/// Some replicas of a cluster, in the order of their ranks.
class MemberList {
 public:
  explicit MemberList(std::vector<std::int64_t> replicas);
  [[nodiscard]] const std::vector<std::int64_t>& replicas() const { return replicas_; }
  [[nodiscard]] std::int64_t replica(std::int64_t rank) const {
    return replicas_[static_cast<std::size_t>(rank)];
  }
  /// REQUIRES: it is one of them.
  [[nodiscard]] std::int64_t rank(std::int64_t replica) const;

 private:
  std::vector<std::int64_t> replicas_;
  std::vector<std::pair<std::int64_t, std::int64_t>> ranks_;  ///< pairs of replica and rank, in
                                                              ///< ascending order
};

/// A collective of a plan, in all groups of replicas that execute it at the same time.
struct PlannedCollective {
  Collective first;  ///< the collective in the first group; PlannedCollective::in() computes the
                     ///< others
  /// The groups; nullopt: all replicas together.
  std::optional<Partition> groups = std::nullopt;
  Time launch_overhead = {};  ///< applies unless the model of the collective's times includes an
                              ///< overhead
  std::optional<VaryingSizes> sizes =
      std::nullopt;  ///< nullopt: every execution has the sizes of `first`
  /// The replicas that execute it, by rank, if they are neither all nor a group of a partition.
  std::shared_ptr<const MemberList> members = nullptr;

  [[nodiscard]] std::int64_t number_of_groups() const { return groups ? groups->groups() : 1; }
  /// True if all executions are identical except for the group.
  [[nodiscard]] bool is_fixed() const { return !sizes; }
  /// Returns the collective in another group, with full blocks. REQUIRES: group <
  /// number_of_groups().
  [[nodiscard]] Collective in(std::int64_t group) const;
  /// Returns the collective that a group executes at one occurrence.
  [[nodiscard]] Collective in(std::int64_t group, const Occurrence& occurrence) const;
  /// Returns the group and the rank of a replica.
  [[nodiscard]] Partition::Place place(std::int64_t replica) const {
    if (members) return {0, members->rank(replica)};
    return groups ? groups->place(replica) : Partition::Place{0, replica};
  }
  /// Returns the replica with this group and rank. REQUIRES: the rank is not a helper's.
  [[nodiscard]] std::int64_t replica(Partition::Place place) const {
    if (members) return members->replica(place.rank);
    return groups ? groups->replica(place) : place.rank;
  }
};
/// The index of a collective in Plan::collectives.
using CollectiveId = std::int32_t;

/// Gradients that are communicated as one buffer, with the collective and its dependencies.
struct Pack {
  Payload payload;
  CollectiveId collective = -1;
  /// Bytes that a device copies before the pack can start and after it is complete (into and out of
  /// the buffer).
  Bytes copied_in = {};
  Bytes copied_out = {};
  /// Bytes that a device reads and writes to convert the pack as a whole before it starts
  /// (Compression::of_packs), and to convert its gradients back.
  Bytes converted_in = {};
  Bytes converted_out = {};
  /// The pack that must be complete on a device before this one starts there; -1: none.
  int after = -1;
  /// True if the pack starts only when all gradients (of its spec entry) are ready, not only its
  /// own; copies out, and with them updates, wait for the last such pack. For num_packs: packs are
  /// cut from a concatenation of all gradients, and concatenated again before they are split into
  /// gradients.
  bool needs_all_gradients = false;
  /// The entry of the strategy's spec that the pack belongs to, and its index among the packs of
  /// this entry.
  int entry = 0;
  int turn = 0;
  /// Another gradient that the pack waits for, although it is not in it (the one that did not fit
  /// into its bucket); -1: none.
  int also_needs = -1;
  PackPhase phase = PackPhase::kGradients;
  /// For a pull: the index of its push, whose sum this pack returns. The server and each replica
  /// start the pull once they have completed the push. -1: this pack is not a pull.
  int answers = -1;
};

/// The packs of a training step in launch order: the order in which serialised packs start, and
/// concurrent ones that are ready at the same time.
struct Plan {
  /// The collectives of all packs and exchanges, each listed once.
  std::vector<PlannedCollective> collectives;
  std::vector<Pack> packs;
  /// By gradient: the entry of the strategy's spec that takes it. Empty: there is no spec.
  std::vector<int> entry_of_gradient;
  /// True if a replica continues its backward pass only when the packs that are ready are complete.
  bool computation_waits = false;
  Update update = Update::kPerPack;
  std::optional<Compression> compression;
  /// The groups of replicas that reduce gradients; nullopt: one group of all replicas.
  std::optional<Partition> partition;
  std::vector<PlannedExchange> exchanges;
  /// The rule that decides when packs of gradients may start (gates.h); null: there is none.
  std::shared_ptr<const GateRule> gate;
  /// The times of collectives that are made while the plan is executed (fuses()); null: simulated
  /// by their schedules.
  std::shared_ptr<const CollectiveTimes> collective_times;
  std::int32_t checkpoint_every = 0;  ///< in steps; 0: no packs of checkpoints
  /// The tasks of an execution trace, which replace those of a training step: pack i is its
  /// collective i. Null: there is none.
  std::shared_ptr<const ExecutionGraph> graph;
  /// The durations of the trace's computation relative to what the trace has, in millionths.
  std::int64_t graph_pace_ppm = 1'000'000;
  /// Differences from the request, or from TensorFlow, that a reader should know.
  Notes notes;

  CollectiveId add(PlannedCollective collective);
  /// Returns a pack that carries `members` by a new collective, with defaults for everything else.
  /// The groups are those of `partition`.
  Pack pack_of(std::vector<Member> members, Collective first, Time launch_overhead = {});
  [[nodiscard]] const Collective& collective(const Pack& pack) const {
    return planned(pack.collective).first;
  }
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
  /// Returns the collective with the most ranks (one of them). Ranks that other collectives share
  /// are the same devices there.
  [[nodiscard]] const Collective& widest() const;
};

/// True if the pack is part of step `step`, counted from 0.
bool takes_part(const Plan& plan, const Pack& pack, std::int32_t step);
/// Returns, for each pack, the index of its pull (Pack::answers), or -1.
std::vector<int> answers_to(const Plan& plan);
/// Returns the reduction of `pack`, which belongs to a plan of `strategy`.
Reduction reduction_of(const Strategy& strategy, const Pack& pack);

/// Returns the strategy for `pack` of a plan of `strategy`, without a spec.
Strategy strategy_of(const Strategy& strategy, const Pack& pack);

/// Makes the plan of a training step. ERRORS (texts): num_packs with gradients of different types,
/// no gradients with elements.
/// REQUIRES: problems_of(strategy, cluster) and those of all communicators are empty; at most one
/// splits the model; `cluster` outlives the plan.
tl::expected<Plan, StrategyProblem> make_plan(const Workload& workload, const Strategy& strategy,
                                              const Cluster& cluster,
                                              const std::vector<Communicator>& communicators = {});

}  // namespace tutti::core
