#pragma once

// Horovod's background threads. In every cycle they agree on which packs are ready on all replicas; these are fused into as few
// collectives as the threshold lets, which every replica's one stream carries out in their order. So what travels together is
// decided by time, while the scenario is run.

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/scenario/scenario.h"
#include "core/strategy/fusion_order.h"
#include "sim/critical_path.h"

namespace tutti::sim {

/// Packs of a step that travel as one.
struct FusedPacks {
  std::int32_t step = 0;
  std::vector<int> packs;
  std::shared_ptr<const core::Collective> collective;
  core::Bytes copied;  ///< into the buffer in which they are fused, and out of it again
};

class Fusing {
 public:
  /// Why a replica's stream begins something: what has made it ready, and when.
  struct Asked {
    Cause cause;
    core::Time at;
  };
  /// A replica's stream: what it is to do, in order; the first is under way.
  using Stream = std::deque<std::shared_ptr<const FusedPacks>>;

  /// REQUIRES: the scenario outlives it.
  explicit Fusing(const core::Scenario& scenario);
  [[nodiscard]] bool any() const { return scenario_.plan.fusion.has_value(); }

  /// A collective over whose connections all others go, for each type.
  [[nodiscard]] std::vector<core::Collective> largest() const;

  /// The pack is ready on the replica. True if it is so on all of them now.
  bool ask(std::int32_t step, std::int32_t pack, std::int64_t replica, Asked asked);
  /// Why the replica begins these, where its stream is free: the last that it had ready of them.
  [[nodiscard]] Asked asked(const FusedPacks& packs, std::int64_t replica) const;

  /// When a cycle begins that finds what is ready now; nothing if one was told already.
  std::optional<core::Time> next_cycle(core::Time now);
  /// It begins. Answers when all have agreed.
  core::Time begin_cycle(core::Time now);
  /// They have.
  [[nodiscard]] std::vector<std::shared_ptr<const FusedPacks>> agreed();

  Stream& stream(std::int64_t replica) { return streams_[static_cast<std::size_t>(replica)]; }
  void forget(const FusedPacks& packs);
  /// How many collectives there were in the first and the last step, in words; and what NCCL took for them, if it was asked.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  [[nodiscard]] core::Collective make(core::DataType type, std::int64_t elements) const;
  [[nodiscard]] std::shared_ptr<const FusedPacks> fuse(std::int32_t step, std::vector<int> packs);

  const core::Scenario& scenario_;
  struct Pending {
    std::int64_t replicas = 0;
    std::vector<Asked> asked;          ///< by replica
    std::vector<std::int64_t> places;  ///< by replica: of the pack in its queue
  };
  [[nodiscard]] core::FusionOrder::Arrival arrival(std::int32_t step, std::int32_t pack) const;
  std::map<std::pair<std::int32_t, std::int32_t>, Pending> pending_;  ///< by step and pack, until they are over
  std::vector<std::pair<std::int32_t, std::int32_t>> ready_;          ///< on all replicas, in that order
  std::deque<std::vector<std::shared_ptr<const FusedPacks>>> agreeing_;
  std::vector<Stream> streams_;
  /// Steps fuse alike, mostly.
  std::map<std::pair<core::DataType, std::int64_t>, std::shared_ptr<const core::Collective>> made_;
  core::FusionOrder order_;
  std::int64_t asked_ = 0;  ///< how often replicas have reported a pack
  core::Time next_free_;
  core::Time last_cycle_{-1};  ///< when the last cycle that found something began
  core::Time previous_cycle_;  ///< the one before the cycle that is due
  bool due_ = false;
  std::map<std::int32_t, std::vector<core::Bytes>> sizes_;                ///< by step
  std::vector<std::shared_ptr<const core::nccl::CollectiveTime>> times_;  ///< NCCL's, of all so far
};

}  // namespace tutti::sim
