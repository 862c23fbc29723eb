#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/plan/gate/fusion_order.h"
#include "core/plan/gate/gate_rule.h"

namespace tutti::core {

/// A gate that models Horovod's background threads. Its items are communications, such as the
/// all-reduce of a gradient. The gate starts items in cycles. Each cycle fuses the items that are
/// ready on all replicas into batches.
///
/// A cycle is a round of the gate. A round begins one cycle time after the previous round began, or
/// when the previous round ends, whichever is later. In each round, every process reports, for each
/// item of the current step, whether the item is ready on all replicas of the process. Every
/// process also reports on which of its ranks the item became ready last. Items that are ready on
/// all processes are fused (fusion_order.h). Every replica executes its batches in order, one at a
/// time.
///
/// Memory: 12 bytes for each replica of this process, and the items that are ready or in flight.
/// SOURCE: horovod/common/operations.cc, RunLoopOnce; horovod/common/controller.cc,
/// ComputeResponseList.
class CycleGate final : public Gate {
 public:
  struct Options {
    Bytes threshold;     ///< maximum size of a batch
    bool cached = true;  ///< true: all items fit into the response cache
    Time cycle;
    /// The time that the processes need to agree in a cycle without ready items. If `idle` is set,
    /// the executor (the simulator or a real run) skips cycles without ready items. When the next
    /// item becomes ready, the gate delays its next round by the time of the skipped cycles. If
    /// `idle` is nullopt, the executor runs all cycles.
    std::optional<Time> idle;
  };

  /// `members` are the replicas of this process.
  CycleGate(GateItems items, const Options& options, GateMembers members);

  std::vector<GateDecision> ready(const GateRequest& request, Time now) override;
  std::vector<GateDecision> done(const GateRequest& request) override;
  std::optional<Time> next_round(Time now) override;
  /// Returns a report with two numbers for each item. The first number of an item is 1 if the item
  /// is ready on all replicas of this process, otherwise 0. The second number is `-1 - order` if
  /// the item became ready on the last of these replicas after the previous round began; `order` is
  /// then its FusionOrder::Arrival::order. Otherwise, the second number is 0.
  GateProposal begin_round(Time now) override;
  std::vector<GateDecision> end_round(const GateProposal& agreed, Time now) override;

 private:
  /// The state of an item before the processes agree to start it.
  struct Pending {
    std::int64_t replicas = 0;  ///< number of replicas on which the item is ready
    std::int64_t round = 0;     ///< round in which the item was reported last
    std::int64_t order = 0;     ///< the largest FusionOrder::Arrival::order of the replicas that
                                ///< reported the item in round `round`
  };
  /// A batch that is not yet complete on all replicas of this process.
  struct Queued {
    std::shared_ptr<const GateBatch> batch;
    std::int64_t left = 0;  ///< number of replicas on which the batch is not complete
  };

  void pass_idle_rounds(Time now);
  [[nodiscard]] std::int64_t& completed_by(std::int64_t replica) {
    return completed_[replica - members_.first_replica];
  }
  void start(std::shared_ptr<const GateBatch> batch, std::vector<GateDecision>& decisions);

  std::size_t items_ = 0;
  std::int64_t items_in_step_ = 0;  ///< number of items per step that the gate controls
  Options options_;
  GateMembers members_;
  FusionOrder order_;

  std::map<std::pair<std::int32_t, std::int32_t>, Pending> pending_;  ///< by step and item
  std::vector<std::int32_t> reported_;  ///< for each replica: number of items that became ready in
                                        ///< the replica's current step
  std::int64_t ready_here_ = 0;  ///< number of items that are ready on all replicas of this process
  std::int32_t step_ = 0;        ///< the first training step with items that the processes have not
                                 ///< agreed to start
  std::int64_t agreed_in_step_ = 0;

  std::int64_t rounds_ = 0;  ///< number of rounds that have begun
  Time began_;               ///< start of the latest round
  Time next_;                ///< earliest start of the next round
  bool in_round_ = false;
  bool announced_ = false;  ///< true if next_round() has returned the time of the next round

  std::deque<Queued> queue_;  ///< batches in start order, beginning with the first batch that is
                              ///< not complete on all replicas
  std::int64_t first_in_queue_ = 0;      ///< index of the first batch in `queue_`, counted over the
                                         ///< whole run
  std::vector<std::int64_t> completed_;  ///< for each replica: number of completed batches; if the
                                         ///< next batch is in `queue_`, the replica is executing
                                         ///< this batch
};

/// The gate rule of Horovod: one CycleGate controls all replicas. If there are several processes,
/// each process has a CycleGate for its own replicas, and these gates agree in every cycle.
class CycleRule final : public GateRule {
 public:
  struct Settings {
    Bytes threshold;  ///< maximum size of a batch
    Time cycle;
    Time agreement;        ///< time that the processes need to agree in a cycle
    Time first_agreement;  ///< time that the processes need to agree in a cycle of the first
                           ///< training step or, if `cached` is false, of any step
    bool cached = true;
  };

  explicit CycleRule(const Settings& settings) : settings_(settings) {}

  [[nodiscard]] GateScope scope() const override { return GateScope::kAll; }
  [[nodiscard]] std::unique_ptr<Gate> make(GateItems items, GateMembers members,
                                           const GateRounds& rounds) const override;
  [[nodiscard]] bool fuses() const override { return true; }
  [[nodiscard]] Time cycle() const override { return settings_.cycle; }
  /// Returns the time that the processes need to agree in a cycle. In training step 0, this time is
  /// longer, because the items are not yet in the cache.
  [[nodiscard]] Time agreement(std::int32_t step) const override {
    return step == 0 || !settings_.cached ? settings_.first_agreement : settings_.agreement;
  }
  [[nodiscard]] std::string starts_when() const override {
    return "in the first cycle after the pack is ready on all replicas";
  }
  [[nodiscard]] std::string_view name() const override { return "cycles"; }
  [[nodiscard]] std::vector<std::int64_t> settings() const override;

 private:
  Settings settings_;
};

}  // namespace tutti::core
