#pragma once

#include <cstdint>
#include <vector>

#include "core/nccl/collective_time.h"
#include "core/strategy/collective_parts.h"
#include "core/strategy/plan.h"

namespace tutti::sim {

/// What is carried out together in a step: the collective of a pack or an exchange, in one of the groups that do it at the
/// same time.
struct Work {
  std::int32_t pack = -1;
  std::int32_t exchange = -1;
  core::Partition::Place place;  ///< the replica's, whoever that is
};

/// The collectives of a plan in all the groups that carry them out. Those of a plan without groups are the plan's own.
class PlanCollectives {
 public:
  /// REQUIRES: the plan outlives the collectives.
  explicit PlanCollectives(const core::Plan& plan) : plan_(plan) {
    if (plan.partition) {
      for (const core::Pack& pack : plan.packs) packs_.push_back(others(pack.collective, *plan.partition));
    }
    for (const core::PlannedExchange& e : plan.exchanges) exchanges_.push_back(others(e.collective, e.partition));
  }

  [[nodiscard]] Work of_pack(std::int32_t pack, std::int64_t replica) const {
    return {pack, -1, plan_.partition ? plan_.partition->place(replica) : core::Partition::Place{0, replica}};
  }
  [[nodiscard]] Work of_exchange(std::int32_t exchange, std::int64_t replica) const {
    return {-1, exchange, plan_.exchanges[static_cast<std::size_t>(exchange)].partition.place(replica)};
  }
  [[nodiscard]] const core::Collective& collective(const Work& work) const {
    const auto group = static_cast<std::size_t>(work.place.group);
    if (work.pack < 0) {
      const auto e = static_cast<std::size_t>(work.exchange);
      return group == 0 ? plan_.exchanges[e].collective : exchanges_[e][group - 1];
    }
    const auto p = static_cast<std::size_t>(work.pack);
    return group == 0 ? plan_.packs[p].collective : packs_[p][group - 1];
  }
  /// The replica that is `rank` in the group of `work`. REQUIRES: the rank is no helper's.
  [[nodiscard]] std::int64_t replica(const Work& work, std::int64_t rank) const {
    if (work.pack < 0)
      return plan_.exchanges[static_cast<std::size_t>(work.exchange)].partition.replica({work.place.group, rank});
    return plan_.partition ? plan_.partition->replica({work.place.group, rank}) : rank;
  }
  /// How many groups carry out the same pack.
  [[nodiscard]] std::int64_t groups_of_packs() const { return plan_.partition ? plan_.partition->groups() : 1; }
  [[nodiscard]] core::Time launch_overhead(const Work& work) const {
    return launch_of(collective(work), work.pack < 0
                                           ? plan_.exchanges[static_cast<std::size_t>(work.exchange)].launch_overhead
                                           : plan_.launch_overhead);
  }
  /// NCCL's own, if that is what the collective begins with.
  static core::Time launch_of(const core::Collective& collective, core::Time otherwise) {
    if (collective.nccl) return collective.nccl->launch;
    const core::CollectiveParts* const parts = core::timed_parts(collective);
    return parts && parts->all.front().inside_workers ? parts->all.front().collective.nccl->launch : otherwise;
  }

  /// Calls with every one of them.
  template <class Visit>
  void visit(Visit visit) const {
    for (const core::Pack& pack : plan_.packs) visit(pack.collective);
    for (const core::PlannedExchange& e : plan_.exchanges) visit(e.collective);
    for (const auto* lists : {&packs_, &exchanges_}) {
      for (const std::vector<core::Collective>& list : *lists) {
        for (const core::Collective& collective : list) visit(collective);
      }
    }
  }

 private:
  static std::vector<core::Collective> others(const core::Collective& first, const core::Partition& partition) {
    std::vector<core::Collective> all;
    for (std::int64_t g = 1; g < partition.groups(); ++g) all.push_back(core::in_group(first, g));
    return all;
  }

  const core::Plan& plan_;
  std::vector<std::vector<core::Collective>> packs_, exchanges_;  ///< of groups 1, 2, …
};

}  // namespace tutti::sim
