// Decides which gradients travel together, and makes the collective of each pack. Class Planner
// handles dense gradients that all replicas reduce. Separate files handle parameter servers, sparse
// gradients, an all_reduce_spec and checkpoints. As in TensorFlow, packing has two stages. First, a
// rule forms groups of gradients. The first of these rules that is set applies: num_packs,
// agg_small_grads, the framework's own rule, bytes_per_pack, a number of chunks, or one gradient
// per group. Second, the merging decides how the gradients of a group are sent: concatenated (with
// copies before and after), in the layout of a ScopedAllocator, or one by one. num_packs is an
// exception: it concatenates all gradients and cuts the result into packs, even in the middle of a
// gradient. With num_packs, no pack can start before the last gradient is ready. The plan omits
// empty packs but counts them when it numbers packs, as TensorFlow does. Schedules come from
// make_collective().

#include "core/lowering/plan.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "core/lowering/checkpoint_plan.h"
#include "core/lowering/exchanges.h"
#include "core/lowering/framework.h"
#include "core/lowering/gradient_groups.h"
#include "core/lowering/order_of_packs.h"
#include "core/lowering/server_plan.h"
#include "core/lowering/sparse_plan.h"
#include "core/lowering/spec_plan.h"
#include "core/packing/concat_and_split.h"
#include "core/packing/merge_scope.h"
#include "core/packing/scoped_allocator.h"
#include "core/strategy/algorithm_table.h"

namespace tutti::core {

MemberList::MemberList(std::vector<std::int64_t> replicas) : replicas_(std::move(replicas)) {
  for (std::int64_t r = 0; r < std::ssize(replicas_); ++r) ranks_.emplace_back(replica(r), r);
  std::sort(ranks_.begin(), ranks_.end());
}

std::int64_t MemberList::rank(std::int64_t replica) const {
  return std::lower_bound(ranks_.begin(), ranks_.end(), std::pair(replica, std::int64_t{0}))
      ->second;
}

Collective PlannedCollective::in(std::int64_t group) const {
  Collective other = first;
  if (group > 0) other.group = first.group.in(group);
  return other;
}

Collective PlannedCollective::in(std::int64_t group, const Occurrence& occurrence) const {
  Collective made = in(group);
  if (!sizes) return made;
  return with_sizes(made, sizes->of(made.elements / made.contributors, group, occurrence));
}

CollectiveId Plan::add(PlannedCollective collective) {
  collectives.push_back(std::move(collective));
  return static_cast<CollectiveId>(collectives.size()) - 1;
}

Pack Plan::pack_of(std::vector<Member> members, Collective first, Time launch_overhead) {
  return {{std::move(members)}, add({std::move(first), partition, launch_overhead})};
}

Bytes Plan::bytes() const {
  Bytes total;
  for (const Pack& pack : packs) total += collective(pack).bytes();
  return total;
}

const Collective& Plan::widest() const {
  return collective(
      *std::max_element(packs.begin(), packs.end(), [this](const Pack& a, const Pack& b) {
        return collective(a).schedule->ranks() < collective(b).schedule->ranks();
      }));
}

bool takes_part(const Plan& plan, const Pack& pack, std::int32_t step) {
  if (pack.phase != PackPhase::kCheckpoint) return true;
  return plan.checkpoint_every > 0 && (step + 1) % plan.checkpoint_every == 0;
}

std::vector<int> pulls_of(const Plan& plan) {
  std::vector<int> answers(plan.packs.size(), -1);
  for (std::size_t p = 0; p < plan.packs.size(); ++p) {
    if (plan.packs[p].answers >= 0) answers[plan.packs[p].answers] = static_cast<int>(p);
  }
  return answers;
}

Reduction reduction_of(const Strategy& strategy, const Pack& pack) {
  return pack.payload.reduction.value_or(strategy.reduction);
}

Strategy strategy_of(const Strategy& strategy, const Pack& pack) {
  return strategy.spec ? for_entry(strategy, static_cast<std::size_t>(pack.entry)) : strategy;
}

namespace {

class Planner : private PackMaker {
 public:
  Planner(const Workload& workload, const Strategy& strategy, const Cluster& cluster,
          const std::vector<Communicator>& communicators)
      : own_(workload),
        workload_(packed(workload, strategy)),
        strategy_(strategy),
        cluster_(cluster),
        merging_(strategy.merging) {
    plan_.notes = strategy.notes;
    add_exchanges(communicators, cluster, plan_);
    for (const Communicator& c : communicators) {
      if (c.splits_model) plan_.partition = c.partition.across();
    }
    if (strategy.independent) plan_.partition = Partition{cluster.replicas(), 1, 1, false};
    if (traits(strategy.algorithm).drops_odd_device && cluster.replicas() % 2 == 1)
      note_odd_device();
    for (const PlannedExchange& e : plan_.exchanges)
      plan_.notes.add("plan.exchange", "{}",
                      describe(e, communicators[e.communicator], workload.micro_batches));
    if (plan_.partition && !strategy.independent)
      plan_.notes.add("plan.groups",
                      "gradients are reduced in {} groups of {} replicas; the replicas of a group "
                      "hold the same part of the model",
                      plan_.partition->groups(), plan_.partition->group_size());
  }

  tl::expected<Plan, StrategyProblem> make() {
    plan_.update = strategy_.update;
    plan_.compression = strategy_.compression;
    note_unconverted();
    if (strategy_.num_packs > 0) {
      if (auto problem = concatenate()) return tl::make_unexpected(std::move(*problem));
    } else if (strategy_.agg_small_grads_max_bytes.count() > 0) {
      merge_units(small_groups(workload_, strategy_), true);
    } else if (strategy_.framework && strategy_.framework->pack(*this)) {
      // If Framework::pack() returned true, the framework has already added the packs.
    } else if (strategy_.bytes_per_pack) {
      if (traits(strategy_.algorithm).tf_implementation.empty() &&
          strategy_.merging == Merging::kConcat) {
        plan_.notes.add("plan.packs-like-tensorflow",
                        "TensorFlow supports bytes_per_pack only for ring and nccl; the plan "
                        "applies it to {} too, and copies gradients into and out of every pack",
                        to_string(strategy_.algorithm));
      }
      add_all(groups_by_bytes(workload_, *strategy_.bytes_per_pack));
    } else if (strategy_.chunks_by_count > 0) {
      add_all(groups_by_count(workload_, strategy_.chunks_by_count));
    } else {
      std::vector<std::vector<int>> units;
      for (int i = 0; i < static_cast<int>(workload_.gradients.size()); ++i) units.push_back({i});
      merge_units(units, false);
    }
    if (indivisible_) return tl::make_unexpected(std::move(*indivisible_));
    if (plan_.packs.empty())
      return tl::make_unexpected(StrategyProblem{
          "", "the model has no gradient with elements, so there is nothing to send"});
    set_launch_order(strategy_, workload_, plan_);
    note_unused_rings();
    return std::move(plan_);
  }

 private:
  /// Returns the workload with the gradients in the types in which they are packed.
  static Workload packed(const Workload& workload, const Strategy& strategy) {
    const bool before = strategy.compression && !strategy.compression->of_packs;
    return before ? as_sent(workload, strategy.compression) : workload;
  }
  [[nodiscard]] const Variable& gradient(int i) const { return workload_.gradients[i]; }

  // --- which gradients go together ---

  /// Implements num_packs: concatenates all gradients and cuts the result into packs, even in the
  /// middle of a gradient.
  std::optional<StrategyProblem> concatenate() {
    const DataType type = gradient(0).type;
    std::int64_t total = 0;
    for (const Variable& g : workload_.gradients) {
      if (g.type != type) {
        return StrategyProblem{
            "num_packs",
            fmt::format(
                "num_packs concatenates all gradients, but their types differ: \"{}\" is {} and "
                "\"{}\" is {}; set gradient_type in the workload, or use bytes_per_pack",
                gradient(0).name, to_string(type), g.name, to_string(g.type))};
      }
      total += g.elements;
    }
    const std::vector<std::int64_t> sizes = concat_and_split(total, strategy_.num_packs);
    int variable = 0;
    std::int64_t used = 0;  // elements of that variable in earlier packs
    int empty = 0;
    for (const std::int64_t size : sizes) {
      if (size == 0) ++empty;
      std::vector<Member> members;
      for (std::int64_t filled = 0; filled < size;) {
        const std::int64_t take = std::min(size - filled, gradient(variable).elements - used);
        if (take > 0) members.push_back({variable, used, take, filled});
        filled += take;
        used += take;
        if (used == gradient(variable).elements) {
          ++variable;
          used = 0;
        }
      }
      if (size == 0) {
        ++turn_;
        continue;
      }
      Pack pack = make_pack(std::move(members), type, size);
      // The concatenation copies all gradients before the first pack starts. Each pack is then
      // copied from the concatenation.
      pack.copied_in += (plan_.packs.empty() ? total + size : size) * size_of(type);
      pack.copied_out = 2 * size * size_of(type);
      pack.needs_all_gradients = true;
      plan_.packs.push_back(std::move(pack));
    }
    if (empty > 0)
      plan_.notes.add("plan.empty-packs",
                      "{} of {} packs are empty, because the model has only {} elements", empty,
                      sizes.size(), total);
    plan_.notes.add(
        "plan.one-concatenation",
        "num_packs concatenates all gradients, so no pack can start before the last "
        "gradient is ready, and no variable is updated before the last pack is complete");
    return std::nullopt;
  }

  void add_all(const std::vector<std::vector<int>>& packs) {
    check_scoped_allocator(packs);
    for (const std::vector<int>& pack : packs) add_merged(pack, merging_);
  }

  /// Turns merging off if a scope has gradients of different types. In this case, TensorFlow's
  /// graph pass fails and leaves the whole graph unchanged. SOURCE:
  /// tensorflow/core/grappler/optimizers/scoped_allocator_optimizer.cc.
  void check_scoped_allocator(const std::vector<std::vector<int>>& scopes) {
    if (merging_ != Merging::kScopedAllocator) return;
    for (const std::vector<int>& scope : scopes) {
      const auto other = std::find_if(scope.begin(), scope.end(), [&](int v) {
        return gradient(v).type != gradient(scope.front()).type;
      });
      if (other == scope.end()) continue;
      merging_ = Merging::kSeparate;
      plan_.notes.add("plan.scoped-allocator-gives-up",
                      "every gradient is sent separately, because a pack has gradients of "
                      "different types (\"{}\" is {}, \"{}\" is {}); in this case, TensorFlow's "
                      "ScopedAllocator merges no pack (\"Group ops don't all have same type\")",
                      gradient(scope.front()).name, to_string(gradient(scope.front()).type),
                      gradient(*other).name, to_string(gradient(*other).type));
      return;
    }
  }

  /// Applies all_reduce_merge_scope to `units`. If `units_are_packed`, a unit of several gradients
  /// is already one buffer; this buffer is copied into the pack and out of it.
  void merge_units(const std::vector<std::vector<int>>& units, bool units_are_packed) {
    const bool merges = strategy_.all_reduce_merge_scope > 1;
    const auto groups =
        merge_consecutive(static_cast<int>(units.size()), strategy_.all_reduce_merge_scope);
    if (!units_are_packed) check_scoped_allocator(groups);
    for (const std::vector<int>& group : groups) {
      std::vector<int> members;
      bool packed = false;
      for (const int unit : group) {
        const std::vector<int>& gradients = units[unit];
        packed = packed || (units_are_packed && gradients.size() > 1);
        members.insert(members.end(), gradients.begin(), gradients.end());
      }
      if (merges && strategy_.merging == Merging::kSeparate) {
        for (const int unit : group) add_merged(units[unit], Merging::kConcat);
        plan_.notes.add("plan.merging-is-off",
                        "all_reduce_merge_scope has no effect, because merging is off");
      } else {
        add_merged(members, packed ? Merging::kConcat : merging_);
      }
    }
    if (merges && traits(strategy_.algorithm).tf_implementation.empty() &&
        strategy_.merging == Merging::kConcat) {
      plan_.notes.add(
          "plan.merges-like-tensorflow",
          "TensorFlow merges only the collectives of ring and nccl; the plan applies "
          "all_reduce_merge_scope to {} too, and copies gradients into and out of every pack",
          to_string(strategy_.algorithm));
    }
  }

  // --- packs made by a framework ---

  [[nodiscard]] const Workload& workload() const override { return workload_; }
  [[nodiscard]] const Cluster& cluster() const override { return cluster_; }
  [[nodiscard]] std::int64_t replicas() const override {
    return plan_.partition ? plan_.partition->group_size() : cluster_.replicas();
  }
  [[nodiscard]] Plan& plan() override { return plan_; }

  void add(Bucket bucket) override {
    const Member last = bucket.members.back();
    if (last.offset + last.count == 0) return;
    const DataType type = gradient(last.variable).type;
    Pack pack = make_pack(std::move(bucket.members), type, last.offset + last.count);
    // Add these copies to those that the algorithm itself needs.
    if (bucket.copied_in) pack.copied_in += (last.offset + last.count) * size_of(type);
    if (bucket.copied_out) pack.copied_out += (last.offset + last.count) * size_of(type);
    pack.needs_all_gradients = bucket.needs_all_gradients;
    pack.also_needs = bucket.also_needs;
    plan_.packs.push_back(std::move(pack));
  }

  // --- packs ---

  /// Adds one pack of several gradients, or one pack per gradient if the gradients cannot be
  /// merged.
  void add_merged(const std::vector<int>& variables, Merging merging) {
    const bool one_type = std::all_of(variables.begin(), variables.end(), [&](int v) {
      return gradient(v).type == gradient(variables.front()).type;
    });
    if (!one_type && merging != Merging::kSeparate)
      plan_.notes.add("plan.types-differ",
                      "gradients of different types cannot be merged, so packs with several types "
                      "send each gradient separately");
    if (variables.size() > 1 && (!one_type || merging == Merging::kSeparate)) {
      for (const int v : variables) add_merged({v}, merging);
      return;
    }
    const DataType type = gradient(variables.front()).type;
    const std::int64_t item = size_of(type).count();
    std::vector<Bytes> sizes;
    for (const int v : variables) sizes.push_back(gradient(v).bytes());
    // A single gradient is sent directly from its own buffer.
    const bool aligned = variables.size() > 1 && merging == Merging::kScopedAllocator;
    const ScopedLayout layout = scoped_layout(sizes, Bytes(aligned ? 64 : item));
    std::vector<Member> members;
    for (std::size_t i = 0; i < variables.size(); ++i) {
      members.push_back(
          {variables[i], 0, gradient(variables[i]).elements, layout.offsets[i].count() / item});
    }
    if (layout.total.count() == 0) {
      ++turn_;
      return;
    }
    Pack pack = make_pack(std::move(members), type, layout.total.count() / item);
    if (variables.size() > 1 && merging == Merging::kConcat) {
      pack.copied_in += layout.total;
      pack.copied_out = layout.total;
    }
    plan_.packs.push_back(std::move(pack));
  }

  [[nodiscard]] Collective collective(const Strategy& strategy, DataType type,
                                      std::int64_t elements, int index) const {
    return plan_.partition
               ? make_collective(cluster_, strategy, type, elements, index, *plan_.partition)
               : make_collective(cluster_, strategy, type, elements, index);
  }

  Pack make_pack(std::vector<Member> members, DataType type, std::int64_t elements) {
    const std::int64_t replicas = this->replicas();
    const DataType sent = sent_as(strategy_.compression, type);
    if (strategy_.pad_packs)
      elements = cut_evenly(cluster_, strategy_, sent, elements,
                            plan_.partition ? &*plan_.partition : nullptr);
    if (has_blocks(strategy_.collective) && elements % replicas != 0) {
      if (!indivisible_) {
        indivisible_ = {"collective",
                        fmt::format("{} gives every replica an equal block, but the elements of "
                                    "pack {} ({}) cannot be divided by {} replicas; use a workload "
                                    "whose packs can be divided by {}, or set pad_packs: true",
                                    to_string(strategy_.collective), plan_.packs.size(), elements,
                                    replicas, replicas)};
      }
      elements += replicas - elements % replicas;  // only to go on: this plan is rejected
    }
    Pack pack =
        plan_.pack_of({}, collective(strategy_, sent, elements, turn_), strategy_.launch_overhead);
    pack.turn = turn_++;
    // TensorFlow's ring copies a tensor to append zeros if its chunks would be unequal.
    if (traits(strategy_.algorithm).pads_by_copy && plan_.collective(pack).elements > elements)
      pack.copied_in = plan_.collective(pack).bytes();
    pack.converted_in = pack.converted_out = converted(elements, type, sent);
    divide(pack);
    // Gradients that were converted one by one before packing are converted back one by one.
    if (strategy_.compression && !strategy_.compression->of_packs) {
      for (const Member& m : members)
        pack.converted_out += converted(m.count, own_.gradients[m.variable].type, sent);
    }
    pack.payload.members = std::move(members);
    return pack;
  }

  /// Adds the division of a mean that the framework computes from a sum of NCCL.
  void divide(Pack& pack) const {
    const Collective& sum = plan_.collective(pack);
    if (strategy_.reduction_by_nccl() == strategy_.reduction ||
        traits(strategy_.algorithm).nccl != NcclPart::kAll || !reduces(sum.kind) || replicas() == 1)
      return;
    if (strategy_.division == Division::kBefore) pack.divided_before = sum.bytes();
    // After a reduce-scatter, a replica holds only its own block of the sum.
    const std::int64_t blocks = sum.kind == CollectiveKind::kReduceScatter ? replicas() : 1;
    if (strategy_.division == Division::kAfter)
      pack.divided_after = Bytes(sum.bytes().count() / blocks);
  }

  void note_odd_device() {
    if (strategy_.hierarchical_copy.drops_odd) {
      plan_.notes.add("plan.odd-device-left-out",
                      "as in TensorFlow's hierarchical copy, sums do not include the gradient of "
                      "the last of {} devices (drop_odd_device)",
                      cluster_.replicas());
    } else {
      plan_.notes.add("plan.odd-device-counts",
                      "TensorFlow's hierarchical copy silently drops the gradient of the last of "
                      "{} devices, but the plan includes it (set drop_odd_device to drop it)",
                      cluster_.replicas());
    }
  }

  void note_unconverted() {
    if (!strategy_.compression) return;
    const auto as_they_are = std::count_if(
        own_.gradients.begin(), own_.gradients.end(),
        [&](const Variable& g) { return sent_as(strategy_.compression, g.type) == g.type; });
    if (as_they_are == 0) return;
    plan_.notes.add("plan.not-converted",
                    "compression: {} of {} gradients are not compressed, because they are integers "
                    "or already {}",
                    as_they_are, own_.gradients.size(), to_string(strategy_.compression->type));
  }

  /// nccl_rings.h can determine NCCL's rings only if all GPUs of each machine take part.
  void note_unused_rings() {
    const Machine& machine = cluster_.machine(0);
    const bool nccl = traits(strategy_.algorithm).uses_nccl();
    const bool known = !machine.rings_inside().empty() || !machine.rings_across().empty();
    if (!nccl || !known || knows_rings(cluster_)) return;
    plan_.notes.add("plan.rings-unknown",
                    "channels visit the GPUs in index order, because NCCL's rings are known only "
                    "for workers that are all {} and use all {} GPUs",
                    machine.name(), machine.gpus().size());
  }

  const Workload& own_;      ///< gradients in the types in which they are computed
  const Workload workload_;  ///< gradients in the types in which they are packed
  const Strategy& strategy_;
  const Cluster& cluster_;
  Merging merging_;  ///< the requested merging, or kSeparate if the requested merging is not
                     ///< possible
  Plan plan_;
  int turn_ = 0;  ///< index of the next pack; empty packs are counted too, as in TensorFlow
  std::optional<StrategyProblem> indivisible_;
};

tl::expected<Plan, StrategyProblem> plan_of_gradients(
    const Workload& workload, const Strategy& strategy, const Cluster& cluster,
    const std::vector<Communicator>& communicators) {
  if (strategy.framework) {
    if (auto own = strategy.framework->plan({workload, strategy, cluster, communicators}))
      return std::move(*own);
  }
  if (strategy.servers) return plan_on_servers(workload, strategy, cluster);
  if (has_slices(workload)) return plan_with_slices(workload, strategy, cluster, communicators);
  if (strategy.spec) return plan_by_spec(workload, strategy, cluster, communicators);
  return Planner(workload, strategy, cluster, communicators).make();
}

}  // namespace

tl::expected<Plan, StrategyProblem> make_plan(const Workload& workload, const Strategy& strategy,
                                              const Cluster& cluster,
                                              const std::vector<Communicator>& communicators) {
  auto plan = plan_of_gradients(workload, strategy, cluster, communicators);
  if (!plan || workload.checkpoint_every == 0) return plan;
  if (auto problem = add_checkpoint(workload, strategy, cluster, *plan))
    return tl::make_unexpected(std::move(*problem));
  return plan;
}

}  // namespace tutti::core
