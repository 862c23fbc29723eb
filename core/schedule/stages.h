#pragma once

#include <memory>
#include <vector>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// The ranks on which a stage of a composed schedule runs. Within a stage, ranks are numbered in
/// the order in which the descriptions below list them. The composed group has `workers` ×
/// `per_worker` replicas, worker by worker, then one host per worker (the host of worker w is rank
/// replicas + w), then other helpers.
enum class StageScope {
  kEveryone,         ///< one instance over all ranks, including hosts and helpers; ranks keep their
                     ///< numbers
  kReplicas,         ///< one instance over all replicas; replicas keep their rank numbers
  kInsideWorkers,    ///< one instance per worker, over its replicas
  kWorkersWithHost,  ///< one instance per worker, over its replicas and then its host
  kLeaders,          ///< one instance over the first replica of every worker
  kLeadersWithHosts,  ///< one instance over the first replica of every worker, then all hosts
  kHosts,             ///< one instance over the hosts
  kHostsAndHelpers,   ///< one instance over the hosts, then the other helpers
};

struct Stage {
  StageScope scope = StageScope::kEveryone;
  std::shared_ptr<const Schedule>
      schedule;  ///< the schedule of every instance; ranks are numbered within the instance
};

/// The layout of a composed group.
struct StageGroup {
  std::int32_t workers = 1;
  std::int32_t per_worker = 1;
  bool hosts = false;
  /// True if hosts have their own `data` buffers, as the contract requires. If true, all stages use
  /// the hosts' `data` buffers.
  bool hosts_hold_data = false;
  std::int32_t helpers = 0;  ///< number of helpers, which come after the hosts and belong to no
                             ///< worker; only stages with kEveryone and kHostsAndHelpers include
                             ///< them

  [[nodiscard]] std::int32_t replicas() const { return workers * per_worker; }
  [[nodiscard]] std::int32_t ranks() const { return replicas() + (hosts ? workers : 0) + helpers; }
};

/// Returns a schedule that runs stages one after the other. On every rank, a stage begins when all
/// lanes of the previous stage are complete on this rank. There is no barrier between stages, so a
/// rank may be several stages ahead of another rank. If `hosts_hold_data` is false, a host's `data`
/// is a range of `elements` elements in its scratch buffer. The scratch buffers of all stages share
/// one range, because only one stage runs at a time on a rank.
std::unique_ptr<Schedule> in_stages(const StageGroup& group, std::int64_t elements,
                                    std::vector<Stage> stages);

}  // namespace tutti::core
