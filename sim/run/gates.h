#pragma once

// Executes gates (core/plan/gate) in virtual time: reports to them which packs are ready and which
// complete, runs their rounds (agreement only takes time, since one process knows all replicas),
// and starts what they decide.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/lowering/gates.h"
#include "core/scenario/scenario.h"
#include "sim/engine/critical_path.h"
#include "sim/engine/event_queue.h"
#include "sim/run/fusing.h"

namespace tutti::sim {

class Gates {
 public:
  /// The cause and the time of a replica's request to start something.
  struct Asked {
    Cause cause;
    core::Time at;
  };
  /// Starts what the gates have released.
  class Starter {
   public:
    virtual ~Starter() = default;
    /// The replica starts the batch now. `fused`: its collective, if it is not that of its only
    /// pack.
    virtual void start_passed(std::int64_t replica, const core::GateBatch& batch,
                              const std::shared_ptr<const FusedPacks>& fused,
                              const Asked& asked) = 0;
  };

  /// REQUIRES: all it is given outlives it.
  Gates(const core::Scenario& scenario, EventQueue& events, Starter& starter);

  [[nodiscard]] bool holds(int pack) const { return plan_.holds(pack); }
  /// Returns collectives whose connections include those of all that are yet to be created.
  [[nodiscard]] std::vector<core::Collective> largest() const {
    return fusing_.any() ? fusing_.largest() : std::vector<core::Collective>();
  }

  /// The pack is ready on the replica, because of `cause`.
  void ready(const core::GateRequest& request, const Cause& cause, core::Time now);
  /// The collective that started with the pack is complete on the replica.
  void done(const core::GateRequest& request, const Cause& cause, core::Time now);
  /// The collective is complete on all replicas.
  void forget(const core::GateBatch& batch);
  /// Handles kCycle.
  void handle(const Event& event);

  /// Visits the state of all gates.
  void visit_state(core::StateVisitor& visitor);
  /// Adds pointers to all causes that are kept here.
  void add_causes(std::vector<Cause*>& causes);
  [[nodiscard]] std::vector<std::string> notes() const {
    return fusing_.any() ? fusing_.notes() : std::vector<std::string>();
  }

 private:
  core::Gate& gate_of(std::int64_t replica) {
    return *gates_[static_cast<std::size_t>(replica / replicas_per_gate_)];
  }
  void execute_points(const std::vector<core::GateDecision>& decisions, const Asked* asked);
  void await_round(core::Time now);
  [[nodiscard]] Asked asked_for(const core::GateBatch& batch, std::int64_t replica) const;

  core::PlanGate plan_;
  EventQueue& events_;
  Starter& starter_;
  Fusing fusing_;
  std::int64_t replicas_;
  std::int64_t replicas_per_gate_ = 1;
  std::vector<std::unique_ptr<core::Gate>> gates_;
  core::GateProposal proposal_;  ///< the proposal in the current round
  /// If gates have rounds: by step and pack, by replica, until complete on all replicas.
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<Asked>> asked_;
};

}  // namespace tutti::sim
