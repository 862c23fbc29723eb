#pragma once

// A plan is the result of lowering a strategy. A plan states which gradients are packed together,
// which collective transfers each pack, and what each pack waits for. A plan has no times:
// step_program.h converts a plan to a task graph, which executors run. All collectives are in one
// table (Plan::collectives). Packs and exchanges refer to a collective by its index in this table.
// If several groups of replicas execute the same collective, each among its own replicas, the table
// has one entry for all groups and all executions. The entry stores the collective of group 0, and
// in() derives the collectives of the other groups. The size of a plan therefore does not depend on
// the number of groups or training steps.

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
  kGradients,  ///< packs of gradients, which start once their gradients are ready
  kRead,  ///< packs that read variables from servers when the step begins; each layer waits for its
          ///< variables
  kCheckpoint,  ///< packs that aggregate variables for a checkpoint, after the rest of the step
};

/// The kind of data that a pack carries.
enum class PackContent : std::uint8_t {
  kValues,   ///< values of variables or gradients
  kIndices,  ///< indices of the rows of a sparse gradient
  kLengths,  ///< for sparse gradients: the number of rows that each replica contributes
};

/// The data that a collective carries.
struct Payload {
  std::vector<Member> members;
  PackContent content = PackContent::kValues;
  /// The reduction of this collective (sum or mean, for example); nullopt: the reduction that the
  /// strategy specifies.
  std::optional<Reduction> reduction = std::nullopt;
  /// TensorFlow's instance key of the collective (collective_keys.h); 0: none.
  std::int64_t instance_key = 0;
  /// For packs of PackPhase::kCheckpoint: the index of the variable in Workload::on_read; `members`
  /// is then empty.
  int on_read = -1;
  /// For an execution trace: the name of the collective; `members` is then empty.
  std::string name = {};
};

/// A subset of a cluster's replicas. The replica at index r of the list has rank r.
class MemberList {
 public:
  explicit MemberList(std::vector<std::int64_t> replicas);
  [[nodiscard]] const std::vector<std::int64_t>& replicas() const { return replicas_; }
  [[nodiscard]] std::int64_t replica(std::int64_t rank) const { return replicas_[rank]; }
  /// Returns the rank of a replica. REQUIRES: the replica is in the list.
  [[nodiscard]] std::int64_t rank(std::int64_t replica) const;

 private:
  std::vector<std::int64_t> replicas_;
  std::vector<std::pair<std::int64_t, std::int64_t>> ranks_;  ///< pairs of replica and rank, sorted
                                                              ///< by replica
};

/// A collective of a plan. Several groups of replicas may execute the collective, each group among
/// its own replicas.
struct PlannedCollective {
  Collective first;  ///< the collective of the first group; in() computes the collectives of all
                     ///< other groups
  /// The groups; nullopt: one group of all replicas.
  std::optional<Partition> groups = std::nullopt;
  Time launch_overhead = {};  ///< not used if the collective's predicted time already includes the
                              ///< launch overhead
  std::optional<VaryingSizes> sizes =
      std::nullopt;  ///< nullopt: every execution has the sizes of `first`
  /// The replicas that execute the collective, in the order of their ranks. If `members` is null,
  /// all replicas or, if `groups` is set, all groups execute the collective.
  std::shared_ptr<const MemberList> members = nullptr;

  [[nodiscard]] std::int64_t number_of_groups() const { return groups ? groups->groups() : 1; }
  /// True if all executions have the same sizes.
  [[nodiscard]] bool is_fixed() const { return !sizes; }
  /// Returns the collective that a group executes, with the sizes of `first`.
  /// REQUIRES: group < number_of_groups().
  [[nodiscard]] Collective in(std::int64_t group) const;
  /// Returns the collective that a group executes at `occurrence`, with the sizes of this
  /// execution.
  [[nodiscard]] Collective in(std::int64_t group, const Occurrence& occurrence) const;
  /// Returns the group that a replica belongs to, and the replica's rank in the group.
  [[nodiscard]] Partition::Place place(std::int64_t replica) const {
    if (members) return {0, members->rank(replica)};
    return groups ? groups->place(replica) : Partition::Place{0, replica};
  }
  /// Returns the replica with this group and rank. REQUIRES: the rank is not a helper (a rank
  /// without a replica).
  [[nodiscard]] std::int64_t replica(Partition::Place place) const {
    if (members) return members->replica(place.rank);
    return groups ? groups->replica(place) : place.rank;
  }
};
/// The index of a collective in Plan::collectives.
using CollectiveId = std::int32_t;

/// Gradients that are communicated as one buffer, with the collective that moves them and the
/// dependencies of the collective.
struct Pack {
  Payload payload;
  CollectiveId collective = -1;
  /// The bytes that a device copies into the pack's buffer before the collective starts, and out of
  /// the buffer after the collective is complete.
  Bytes copied_in = {};
  Bytes copied_out = {};
  /// The bytes that a device divides in place before and after the collective, if the framework
  /// computes the mean from a sum of NCCL (Strategy::division). Without a predicted time
  /// (Collective::nccl), the collective's schedule includes the division.
  Bytes divided_before = {};
  Bytes divided_after = {};
  /// The bytes that a device reads and writes to convert the pack's data type before the collective
  /// (Compression::of_packs), and to convert the gradients back after the collective.
  Bytes converted_in = {};
  Bytes converted_out = {};
  /// The index of the pack that must be complete on a device before this pack starts on the device;
  /// -1: none.
  int after = -1;
  /// True if the pack starts only when all gradients are ready (all gradients of its entry, if
  /// there is an all_reduce_spec). The copies out of such packs, and the updates, start only when
  /// all packs with this property are complete. The packs that the setting num_packs makes have
  /// this property, because they are cut from the concatenation of all gradients.
  bool needs_all_gradients = false;
  /// The index of the all_reduce_spec's entry to which the pack belongs; 0 without an
  /// all_reduce_spec. `turn` is the index of the pack among the packs of this entry.
  int entry = 0;
  int turn = 0;
  /// The index of a gradient that did not fit into the pack's bucket. The pack also waits for this
  /// gradient. -1: none.
  int also_needs = -1;
  PackPhase phase = PackPhase::kGradients;
  /// If this pack is a pull, which returns a sum from a server to the replicas: the index of the
  /// push, the pack whose sum the pull returns. The server and each replica start the pull once
  /// they have completed their part of the push. -1: this pack is not a pull.
  int answers = -1;
};

/// The packs of a training step, in launch order. Packs that are launched serially, and packs that
/// become ready at the same time, start in the order of `packs`.
struct Plan {
  /// The collectives of all packs and exchanges, each listed once.
  std::vector<PlannedCollective> collectives;
  std::vector<Pack> packs;
  /// For each gradient, the index of the all_reduce_spec's entry to which the gradient belongs. The
  /// list is empty if the strategy has no all_reduce_spec.
  std::vector<int> entry_of_gradient;
  /// True if a replica pauses its backward pass while packs are in flight.
  bool computation_waits = false;
  Update update = Update::kPerPack;
  std::optional<Compression> compression;
  /// The groups of replicas that reduce gradients; nullopt: one group of all replicas.
  std::optional<Partition> partition;
  std::vector<PlannedExchange> exchanges;
  /// The rule (gates.h) that decides when ready packs of gradients may start, and whether packs are
  /// fused; null: packs start as soon as they are ready.
  std::shared_ptr<const GateRule> gate;
  /// Computes the durations of the collectives of packs that a gate fuses at run time (fuses());
  /// null: the schedules of these collectives are simulated.
  std::shared_ptr<const CollectiveTimes> collective_times;
  std::int32_t checkpoint_every = 0;  ///< number of steps between checkpoints; 0: no packs for
                                      ///< checkpoints
  /// An execution trace, whose tasks replace those of a training step. Pack i is collective i of
  /// the trace. Null: there is no trace.
  std::shared_ptr<const ExecutionGraph> graph;
  /// The factor by which the durations of the trace's computations are multiplied, in millionths.
  std::int64_t graph_pace_ppm = 1'000'000;
  /// Notes for the user on differences between the plan and the requested settings, or between the
  /// plan and TensorFlow's behaviour.
  Notes notes;

  CollectiveId add(PlannedCollective collective);
  /// Returns a pack of `members` with the new collective `first`, which the groups of `partition`
  /// execute. The pack's other fields have their defaults.
  Pack pack_of(std::vector<Member> members, Collective first, Time launch_overhead = {});
  [[nodiscard]] const Collective& collective(const Pack& pack) const {
    return planned(pack.collective).first;
  }
  [[nodiscard]] const Collective& collective(const PlannedExchange& exchange) const {
    return planned(exchange.collective).first;
  }
  [[nodiscard]] const PlannedCollective& planned(CollectiveId id) const { return collectives[id]; }

  /// True if the gate fuses packs at run time.
  [[nodiscard]] bool fuses() const { return gate && gate->fuses(); }
  /// True if the gate decides when the pack starts. If there is a gate, it controls all packs of
  /// gradients except pulls.
  [[nodiscard]] bool passes_gate(const Pack& pack) const {
    return gate && pack.phase == PackPhase::kGradients && pack.answers < 0;
  }

  [[nodiscard]] Bytes bytes() const;
  /// Returns the collective with the largest number of ranks among the collectives of all packs. If
  /// the plan has no groups (`partition`) and no trace (`graph`), a given rank is the same device
  /// in all collectives of packs.
  [[nodiscard]] const Collective& widest() const;
};

/// True if the pack is executed in training step `step`, counted from 0.
bool takes_part(const Plan& plan, const Pack& pack, std::int32_t step);
/// Returns, for each pack that pushes gradients to a server, the index of the corresponding pull;
/// -1 for all other packs.
std::vector<int> pulls_of(const Plan& plan);
/// Returns the reduction of a pack. `strategy` is the strategy from which the plan was made.
Reduction reduction_of(const Strategy& strategy, const Pack& pack);

/// Returns the strategy that applies to a pack: the strategy of the pack's entry if `strategy` has
/// an all_reduce_spec, otherwise `strategy` itself.
Strategy strategy_of(const Strategy& strategy, const Pack& pack);

/// Makes the plan of a training step.
/// ERRORS (texts): num_packs is set and gradients have different types; no gradient has elements.
/// REQUIRES: problems_of(strategy, cluster) and problems_of() of all communicators are empty; at
/// most one communicator splits the model; `cluster` outlives the plan.
tl::expected<Plan, StrategyProblem> make_plan(const Workload& workload, const Strategy& strategy,
                                              const Cluster& cluster,
                                              const std::vector<Communicator>& communicators = {});

}  // namespace tutti::core
