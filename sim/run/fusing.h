#pragma once

// Horovod decides at run time, in cycles, which packs to fuse (core/plan/gate/cycle_gate.h). The
// collective of a batch of fused packs is therefore created, and its time predicted, when the gate
// has chosen the batch.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/plan/gate/gate.h"
#include "core/scenario/scenario.h"

namespace tutti::sim {

/// Packs of a training step that are reduced by one collective.
struct FusedPacks {
  /// The gate's batch with these packs; its items are pack numbers.
  std::shared_ptr<const core::GateBatch> batch;
  std::shared_ptr<const core::Collective> collective;
  core::Bytes copied;  ///< bytes copied into the fusion buffer, and out of it again
};

class Fusing {
 public:
  /// REQUIRES: the scenario outlives this object.
  explicit Fusing(const core::Scenario& scenario) : scenario_(scenario) {}
  [[nodiscard]] bool any() const { return scenario_.plan.fuses(); }

  /// Returns the largest possible collective for each data type. The connections of these
  /// collectives include the connections of all smaller collectives.
  [[nodiscard]] std::vector<core::Collective> largest() const;
  /// Returns the batch with its collective. Later calls for the same batch return the same object,
  /// until forget() is called.
  const std::shared_ptr<const FusedPacks>& of(const std::shared_ptr<const core::GateBatch>& batch);
  void forget(const core::GateBatch& batch) { fused_.erase(&batch); }
  /// Returns notes about the numbers of collectives in the first and the last step. If NCCL
  /// executes the collectives, there are also notes about NCCL's predicted times.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  [[nodiscard]] core::Collective make(core::DataType type, std::int64_t elements) const;
  [[nodiscard]] std::shared_ptr<const FusedPacks> fuse(
      const std::shared_ptr<const core::GateBatch>& batch);

  const core::Scenario& scenario_;
  std::map<const core::GateBatch*, std::shared_ptr<const FusedPacks>> fused_;
  /// The collectives that were created, by data type and size. Collectives are kept, because
  /// consecutive steps mostly fuse the same packs.
  std::map<std::pair<core::DataType, std::int64_t>, std::shared_ptr<const core::Collective>> made_;
  /// For each training step, the sizes of its collectives.
  std::map<std::int32_t, std::vector<core::Bytes>> sizes_;
  /// NCCL's predicted times of all collectives that have been created.
  std::vector<std::shared_ptr<const core::nccl::CollectiveTime>> times_;
};

}  // namespace tutti::sim
