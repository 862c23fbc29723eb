#pragma once

#include "core/scenario/scenario.h"

namespace tutti::real {

/// Returns the group of all ranks of a run. Usually, the result is the group of the collective with
/// the most ranks. If workers are asynchronous, each collective has only few ranks; the result then
/// consists of all replicas, followed by the CPUs of all workers.
inline core::Group all_ranks(const core::Plan& plan) {
  const core::Group& widest = plan.widest().group;
  return plan.partition ? core::Group::of_cluster(widest.cluster(), true) : widest;
}
inline core::Rank count_of_ranks(const core::Plan& plan) {
  return plan.partition ? static_cast<core::Rank>(all_ranks(plan).size())
                        : plan.widest().schedule->ranks();
}

}  // namespace tutti::real
