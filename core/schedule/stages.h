#pragma once

#include <memory>
#include <vector>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// The ranks that a stage of a composed schedule runs on, and their numbering in it. The composed
/// group consists of `workers` times `per_worker` replicas, worker by worker, then one host per
/// worker as helper (rank replicas + worker).
enum class StageScope {
  kEveryone,          ///< one instance over all ranks, including hosts and helpers, with unchanged
                      ///< numbers
  kReplicas,          ///< one instance over all replicas, with unchanged numbers
  kInsideWorkers,     ///< one instance per worker, over its replicas
  kWorkersWithHost,   ///< one instance per worker, over its replicas and then its host
  kLeaders,           ///< one instance over the first replica of every worker
  kLeadersWithHosts,  ///< one instance over the first replicas, then the hosts
  kHosts,             ///< one instance over the hosts
  kHostsAndHelpers,   ///< one instance over the hosts, then the other helpers
};

struct Stage {
  StageScope scope = StageScope::kEveryone;
  std::shared_ptr<const Schedule>
      schedule;  ///< run by every instance, with the ranks of the instance
};

/// The layout of a composed group.
struct StageGroup {
  std::int32_t workers = 1;
  std::int32_t per_worker = 1;
  bool hosts = false;
  /// Hosts have data buffers of their own, which the contract covers; they are `data` in all
  /// stages.
  bool hosts_hold_data = false;
  std::int32_t helpers = 0;  ///< number of ranks after the hosts that belong to no worker; only in
                             ///< kEveryone and kHostsAndHelpers

  [[nodiscard]] std::int32_t replicas() const { return workers * per_worker; }
  [[nodiscard]] std::int32_t ranks() const { return replicas() + (hosts ? workers : 0) + helpers; }
};

/// Runs stages one after the other. On every rank, the lanes of a stage begin when the lanes of the
/// last earlier stage that used this rank are complete. Nothing else synchronises ranks, so a rank
/// may be stages ahead of another. A host's `data` in a stage is a range of `elements` elements in
/// its scratch buffer, the same in all stages.
std::unique_ptr<Schedule> in_stages(const StageGroup& group, std::int64_t elements,
                                    std::vector<Stage> stages);

}  // namespace tutti::core
