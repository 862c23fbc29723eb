#pragma once

// Horovod's cycles decide only at run time which packs to fuse (core/plan/gate/cycle_gate.h). The
// collective of a batch of fused packs is therefore created when the gate decides the batch. The
// time of the collective is predicted at the same moment.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/plan/gate/gate.h"
#include "core/scenario/scenario.h"

namespace tutti::sim {

/// Packs of a training step that travel in one collective.
struct FusedPacks {
  /// The batch; its items are the numbers of the packs.
  std::shared_ptr<const core::GateBatch> batch;
  std::shared_ptr<const core::Collective> collective;
  core::Bytes copied;  ///< bytes copied into the fusion buffer, and out of it again
};

class Fusing {
 public:
  /// REQUIRES: the scenario outlives this object.
  explicit Fusing(const core::Scenario& scenario) : scenario_(scenario) {}
  [[nodiscard]] bool any() const { return scenario_.plan.fuses(); }

  /// Returns one collective for each data type. The connections of this collective include the
  /// connections of all other collectives of the type.
  [[nodiscard]] std::vector<core::Collective> largest() const;
  /// Returns the batch with its collective. Calls for the same batch return the same object until
  /// forget() is called.
  const std::shared_ptr<const FusedPacks>& of(const std::shared_ptr<const core::GateBatch>& batch);
  void forget(const core::GateBatch& batch) { fused_.erase(&batch); }
  /// Returns notes about the number of collectives in the first and the last step, and about NCCL's
  /// predicted times if NCCL executes the collectives.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  [[nodiscard]] core::Collective make(core::DataType type, std::int64_t elements) const;
  [[nodiscard]] std::shared_ptr<const FusedPacks> fuse(
      const std::shared_ptr<const core::GateBatch>& batch);

  const core::Scenario& scenario_;
  std::map<const core::GateBatch*, std::shared_ptr<const FusedPacks>> fused_;
  /// A cache of collectives, because consecutive steps mostly fuse the same packs.
  std::map<std::pair<core::DataType, std::int64_t>, std::shared_ptr<const core::Collective>> made_;
  /// Indexed by training step: the sizes of the step's collectives.
  std::map<std::int32_t, std::vector<core::Bytes>> sizes_;
  /// NCCL's predicted times of all collectives that have been created.
  std::vector<std::shared_ptr<const core::nccl::CollectiveTime>> times_;
};

}  // namespace tutti::sim
