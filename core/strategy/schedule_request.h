#pragma once

#include <algorithm>
#include <cstdint>

#include "core/algorithm/ring.h"
#include "core/base/data_type.h"
#include "core/cluster/cluster.h"
#include "core/schedule/contract.h"
#include "core/strategy/strategy.h"

namespace tutti::core {

/// The input of the functions that make schedules: a collective of a strategy and its number of
/// elements, over all replicas of a cluster or over a group of them.
struct ScheduleRequest {
  const Cluster& cluster;
  const Strategy& strategy;
  DataType type = DataType::kFloat32;
  std::int64_t elements = 0;  ///< number of elements, with padding
  int index = 0;              ///< index of the pack
  std::int32_t replicas = 1;
  std::int32_t per_worker = 1;
  bool hosts = false;  ///< true if the hosts of the workers are ranks too, after the replicas

  [[nodiscard]] std::int32_t workers() const { return replicas / per_worker; }
  [[nodiscard]] std::int32_t ranks() const { return replicas + (hosts ? workers() : 0); }
  [[nodiscard]] std::int64_t elements_in(Bytes bytes) const {
    return std::max<std::int64_t>(1, bytes / size_of(type));
  }
  /// Returns the engine by which replicas move and reduce data. The result does not apply to NCCL,
  /// which always uses kernels.
  [[nodiscard]] Engine engine() const {
    return cluster.part(cluster.replica(0)).kind == PartKind::kGpu ? Engine::kCopyEngine
                                                                   : Engine::kCpu;
  }
  /// Returns the distance in elements from the in-place position of an input to its actual position
  /// (Contract::input_shift); 0 if the collective is in place.
  [[nodiscard]] std::int64_t shift() const { return strategy.out_of_place ? elements : 0; }
  [[nodiscard]] Contract contract() const {
    return Contract::of(strategy.collective, replicas, elements, strategy.root,
                        strategy.out_of_place);
  }
  [[nodiscard]] bool is(CollectiveKind kind) const { return strategy.collective == kind; }
};

}  // namespace tutti::core
