#pragma once

// What Horovod's cycles fuse (core/plan/gate/cycle_gate.h) is known only while the scenario runs: the collectives of such batches are made, and
// their times asked for, when they are decided.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/plan/gate/gate.h"
#include "core/scenario/scenario.h"

namespace tutti::sim {

/// Packs of a step that travel as one.
struct FusedPacks {
  std::shared_ptr<const core::GateBatch> batch;  ///< its items are packs
  std::shared_ptr<const core::Collective> collective;
  core::Bytes copied;  ///< into the buffer in which they are fused, and out of it again
};

class Fusing {
 public:
  /// REQUIRES: the scenario outlives it.
  explicit Fusing(const core::Scenario& scenario) : scenario_(scenario) {}
  [[nodiscard]] bool any() const { return scenario_.plan.fuses(); }

  /// A collective over whose connections all others go, for each type.
  [[nodiscard]] std::vector<core::Collective> largest() const;
  /// The batch and its collective; the same for the same batch, until it is forgotten.
  const std::shared_ptr<const FusedPacks>& of(const std::shared_ptr<const core::GateBatch>& batch);
  void forget(const core::GateBatch& batch) { fused_.erase(&batch); }
  /// How many collectives there were in the first and the last step, in words; and what NCCL took for them, if it was asked.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  [[nodiscard]] core::Collective make(core::DataType type, std::int64_t elements) const;
  [[nodiscard]] std::shared_ptr<const FusedPacks> fuse(const std::shared_ptr<const core::GateBatch>& batch);

  const core::Scenario& scenario_;
  std::map<const core::GateBatch*, std::shared_ptr<const FusedPacks>> fused_;
  /// Steps fuse alike, mostly.
  std::map<std::pair<core::DataType, std::int64_t>, std::shared_ptr<const core::Collective>> made_;
  std::map<std::int32_t, std::vector<core::Bytes>> sizes_;                ///< by step
  std::vector<std::shared_ptr<const core::nccl::CollectiveTime>> times_;  ///< NCCL's, of all so far
};

}  // namespace tutti::sim
