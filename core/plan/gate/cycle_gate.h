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

/// Starts items in cycles, each of which fuses the items that are ready on all replicas into
/// batches: Horovod's background threads.
///
/// Cycles are rounds. A round begins one cycle time after the round before began, or once that one
/// is over if it took longer. In each round every process reports for each item of the current step
/// whether it is ready on all its replicas, and which rank reported it last. Items that are ready
/// everywhere are fused (fusion_order.h). Every replica executes its batches in order, one at a
/// time, on one stream.
///
/// Memory: 8 bytes for each replica of this process, and the items that are ready or in flight.
/// SOURCE: horovod/common/operations.cc, RunLoopOnce; horovod/common/controller.cc,
/// ComputeResponseList.
class CycleGate final : public Gate {
 public:
  struct Options {
    Bytes threshold;     ///< the maximum total size of a batch
    bool cached = true;  ///< all items fit into the response cache
    Time cycle;
    /// The duration of a cycle in which no item is ready. The executor skips such cycles, and the
    /// gate accounts for them when the next request arrives. nullopt: the executor runs every
    /// cycle.
    std::optional<Time> idle;
  };

  /// `members`: the replicas of this process.
  CycleGate(GateItems items, const Options& options, GateMembers members);

  std::vector<GateDecision> ready(const GateRequest& request, Time now) override;
  std::vector<GateDecision> done(const GateRequest& request) override;
  /// Two numbers for each item: 1 if it is ready on all replicas here, else 0; and, if one of them
  /// reported it since the last round, -1 - FusionOrder::Arrival::order of the last of them, else
  /// 0.
  std::optional<Time> next_round(Time now) override;
  GateProposal begin_round(Time now) override;
  std::vector<GateDecision> end_round(const GateProposal& agreed, Time now) override;

 private:
  /// An item of a step, until the processes have agreed to start it.
  struct Pending {
    std::int64_t replicas = 0;  ///< number of replicas on which it is ready
    std::int64_t round = 0;     ///< the round in which the last of them reported it
    std::int64_t order = 0;     ///< FusionOrder::Arrival::order over the reports of that round
  };
  /// A batch that is not yet complete on all replicas here.
  struct Queued {
    std::shared_ptr<const GateBatch> batch;
    std::int64_t left = 0;  ///< number of replicas on which it is not complete
  };

  void pass_idle_rounds(Time now);
  [[nodiscard]] std::int64_t& completed_by(std::int64_t replica) {
    return completed_[static_cast<std::size_t>(replica - members_.first_replica)];
  }
  void start(std::shared_ptr<const GateBatch> batch, std::vector<GateDecision>& decisions);

  std::size_t items_ = 0;
  std::int64_t items_in_step_ = 0;  ///< that pass the gate
  Options options_;
  GateMembers members_;
  FusionOrder order_;

  std::map<std::pair<std::int32_t, std::int32_t>, Pending> pending_;  ///< by step and item
  std::vector<std::int32_t> reported_;  ///< by replica: items of its step so far
  std::int64_t ready_here_ = 0;         ///< items that are ready on all replicas here
  std::int32_t step_ = 0;               ///< the first step with items not yet agreed on
  std::int64_t agreed_in_step_ = 0;

  std::int64_t rounds_ = 0;  ///< number of rounds that have begun
  Time began_;               ///< when the last of them began
  Time next_;                ///< the earliest time at which the next may begin
  bool in_round_ = false;
  bool announced_ = false;  ///< the executor was given the time of the next round

  std::deque<Queued> queue_;  ///< in order; batches before the first are complete on all replicas
  std::int64_t first_in_queue_ = 0;  ///< the number of that batch
  std::vector<std::int64_t>
      completed_;  ///< by replica: batches; the next one is in flight if it is in the queue
};

/// Makes all replicas agree in cycles.
class CycleRule final : public GateRule {
 public:
  struct Settings {
    Bytes threshold;  ///< the maximum total size of fused items
    Time cycle;
    Time agreement;        ///< the time that the agreement of a cycle takes
    Time first_agreement;  ///< the same in the first step, or in every step if `cached` is false
    bool cached = true;
  };

  explicit CycleRule(const Settings& settings) : settings_(settings) {}

  [[nodiscard]] GateScope scope() const override { return GateScope::kAll; }
  [[nodiscard]] std::unique_ptr<Gate> make(GateItems items, GateMembers members,
                                           const GateRounds& rounds) const override;
  [[nodiscard]] bool fuses() const override { return true; }
  [[nodiscard]] Time cycle() const override { return settings_.cycle; }
  /// The time of the agreement; items are reported for the first time in step 0.
  [[nodiscard]] Time agreement(std::int32_t step) const override {
    return step == 0 || !settings_.cached ? settings_.first_agreement : settings_.agreement;
  }
  [[nodiscard]] std::string starts_when() const override {
    return "in the first cycle after all replicas are ready";
  }
  [[nodiscard]] std::string_view name() const override { return "cycles"; }
  [[nodiscard]] std::vector<std::int64_t> settings() const override;

 private:
  Settings settings_;
};

}  // namespace tutti::core
