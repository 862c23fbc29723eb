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

/// Items start in cycles, in which those that are ready on all replicas are fused into batches: Horovod's background threads.
///
/// Cycles are rounds. They begin one after the other, each its length after the one before, or as soon as that is over. In each, every
/// process says of every item of the current step whether all its replicas have it ready, and which rank reported it last; what is
/// ready everywhere is fused (fusion_order.h). Every replica carries its batches out in their order, one at a time, on one stream.
///
/// Memory: 8 bytes for each replica of this process, and what is ready or in flight.
/// SOURCE: horovod/common/operations.cc, RunLoopOnce; horovod/common/controller.cc, ComputeResponseList.
class CycleGate final : public Gate {
 public:
  struct Options {
    Bytes threshold;     ///< of the items of a batch together
    bool cached = true;  ///< all items fit into the response cache
    Time cycle;
    /// How long a cycle takes in which nothing is ready. The executor does not hold those: the gate counts them when the next request
    /// comes. Nothing: the executor holds every cycle.
    std::optional<Time> idle;
  };

  /// `members`: the replicas of this process.
  CycleGate(GateItems items, const Options& options, GateMembers members);

  std::vector<GateDecision> ready(const GateRequest& request, Time now) override;
  std::vector<GateDecision> done(const GateRequest& request) override;
  /// Two numbers for each item: 1 if it is ready on all replicas here, else 0; and, if one of them reported it since the round before,
  /// minus one minus FusionOrder::Arrival::order of the last of them, else 0.
  std::optional<Time> next_round(Time now) override;
  GateProposal begin_round(Time now) override;
  std::vector<GateDecision> end_round(const GateProposal& agreed, Time now) override;

 private:
  /// An item of a step, until it is agreed on.
  struct Pending {
    std::int64_t replicas = 0;  ///< that have it ready
    std::int64_t round = 0;     ///< in which the last of them report it
    std::int64_t order = 0;     ///< FusionOrder::Arrival::order, of those that report it in that round
  };
  /// A batch that some replicas here have not completed.
  struct Queued {
    std::shared_ptr<const GateBatch> batch;
    std::int64_t left = 0;  ///< replicas that have not
  };

  void pass_idle_rounds(Time now);
  [[nodiscard]] std::int64_t& completed_by(std::int64_t replica) {
    return completed_[static_cast<std::size_t>(replica - members_.first_replica)];
  }
  void start(std::shared_ptr<const GateBatch> batch, std::vector<GateDecision>& decisions);

  std::size_t items_ = 0;
  std::int64_t items_in_step_ = 0;  ///< that pass
  Options options_;
  GateMembers members_;
  FusionOrder order_;

  std::map<std::pair<std::int32_t, std::int32_t>, Pending> pending_;  ///< by step and item
  std::vector<std::int32_t> reported_;                                ///< by replica: items of its step so far
  std::int64_t ready_here_ = 0;                                       ///< items that are ready on all replicas here
  std::int32_t step_ = 0;                                             ///< of which not all items are agreed on
  std::int64_t agreed_in_step_ = 0;

  std::int64_t rounds_ = 0;  ///< that have begun
  Time began_;               ///< the last of them
  Time next_;                ///< when the next may begin at the earliest
  bool in_round_ = false;
  bool announced_ = false;  ///< the executor knows when the next one begins

  std::deque<Queued> queue_;             ///< in order; batches before the first are complete on all replicas
  std::int64_t first_in_queue_ = 0;      ///< the number of that batch
  std::vector<std::int64_t> completed_;  ///< by replica: batches; the next one is in flight if it is in the queue
};

/// All replicas agree in cycles.
class CycleRule final : public GateRule {
 public:
  struct Settings {
    Bytes threshold;  ///< of fused items together
    Time cycle;
    Time agreement;        ///< how long processes take to agree on what is ready, in a cycle
    Time first_agreement;  ///< … in the first step, or in every one where `cached` is false
    bool cached = true;
  };

  explicit CycleRule(const Settings& settings) : settings_(settings) {}

  [[nodiscard]] GateScope scope() const override { return GateScope::kAll; }
  [[nodiscard]] std::unique_ptr<Gate> make(GateItems items, GateMembers members,
                                           const GateRounds& rounds) const override;
  [[nodiscard]] bool fuses() const override { return true; }
  [[nodiscard]] Time cycle() const override { return settings_.cycle; }
  /// The first time of each item is in the first step.
  [[nodiscard]] Time agreement(std::int32_t step) const override {
    return step == 0 || !settings_.cached ? settings_.first_agreement : settings_.agreement;
  }
  [[nodiscard]] std::string starts_when() const override { return "in the cycle after it is ready everywhere"; }
  [[nodiscard]] std::string_view name() const override { return "cycles"; }
  [[nodiscard]] std::vector<std::int64_t> settings() const override;

 private:
  Settings settings_;
};

}  // namespace tutti::core
