#pragma once

#include <cstdint>
#include <vector>

#include "core/lowering/plan.h"
#include "core/nccl/collective_time.h"
#include "core/strategy/collective_parts.h"

namespace tutti::sim {

/// A collective of the plan, in one of the groups of replicas that execute it at the same time.
struct Work {
  core::CollectiveId collective = -1;
  core::Partition::Place place;  ///< group and rank of any replica of the group
  // The index of the pack, and the index of the exchange (a collective during computation), that
  // requested the collective. At least one of them is -1 (none).
  std::int32_t pack = -1;
  std::int32_t exchange = -1;
  std::int64_t occurrence = 0;  ///< number of earlier executions of the exchange in the same
                                ///< training step
};

/// The collectives of a plan, for each group of replicas that executes them. Only the collectives
/// of the first group are stored. The collectives of other groups are created on demand, so memory
/// does not grow with the number of groups.
class PlanCollectives {
 public:
  /// REQUIRES: the plan outlives this object.
  explicit PlanCollectives(const core::Plan& plan) : plan_(plan) {}

  [[nodiscard]] Work of_pack(std::int32_t pack, std::int64_t replica) const {
    const core::CollectiveId id = plan_.packs[pack].collective;
    return {id, plan_.planned(id).place(replica), pack, -1};
  }
  [[nodiscard]] Work of_exchange(std::int32_t exchange, std::int64_t occurrence,
                                 std::int64_t replica) const {
    const core::CollectiveId id = plan_.exchanges[exchange].collective;
    return {id, plan_.planned(id).place(replica), -1, exchange, occurrence};
  }
  [[nodiscard]] const core::PlannedCollective& planned(const Work& work) const {
    return plan_.planned(work.collective);
  }
  /// Returns the replica that has `rank` in the group of `work`. REQUIRES: the rank is not a
  /// helper, that is, not a server or a host.
  [[nodiscard]] std::int64_t replica(const Work& work, std::int64_t rank) const {
    return planned(work).replica({work.place.group, rank});
  }
  /// Returns the number of groups that execute each pack.
  [[nodiscard]] std::int64_t groups_of_packs() const {
    return plan_.partition ? plan_.partition->groups() : 1;
  }
  /// Returns the launch overhead of a collective: NCCL's launch time if the collective begins with
  /// an NCCL operation, and otherwise the argument `otherwise`.
  static core::Time launch_of(const core::Collective& collective, core::Time otherwise) {
    if (collective.nccl) return collective.nccl->launch;
    const core::CollectiveParts* const parts = core::timed_parts(collective);
    return parts && parts->all.front().inside_workers ? parts->all.front().collective.nccl->launch
                                                      : otherwise;
  }

  /// Calls `visit` with each collective of the plan. The collectives of the first group come first,
  /// packs before exchanges. The collectives of the other groups follow in the same order.
  template <class Visit>
  void visit(Visit visit) const {
    const auto each = [this](const auto& with) {
      // The packs of an execution trace (`graph`) share collectives, and only the groups of
      // replicas that the trace names execute them.
      if (plan_.graph) {
        for (const core::PlannedCollective& one : plan_.collectives) with(one);
        return;
      }
      for (const core::Pack& pack : plan_.packs) with(plan_.planned(pack.collective));
      for (const core::PlannedExchange& e : plan_.exchanges) with(plan_.planned(e.collective));
    };
    each([&](const core::PlannedCollective& one) { visit(one.first); });
    each([&](const core::PlannedCollective& one) {
      for (std::int64_t g = 1; g < one.number_of_groups(); ++g) visit(one.in(g));
    });
  }

 private:
  const core::Plan& plan_;
};

}  // namespace tutti::sim
