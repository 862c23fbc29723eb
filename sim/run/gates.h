#pragma once

// The executor of gates (core/plan/gate) in virtual time: it tells them what replicas have ready and what is complete, holds their
// rounds, in which agreement is a matter of time alone, since one process knows all replicas, and starts what they decide.

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
  /// Why a replica starts something: what has made it ready, and when.
  struct Asked {
    Cause cause;
    core::Time at;
  };
  /// Starts what has passed.
  class Starter {
   public:
    virtual ~Starter() = default;
    /// The replica starts the batch now. `fused`: its collective, if it is not its only pack's.
    virtual void start_passed(std::int64_t replica, const core::GateBatch& batch,
                              const std::shared_ptr<const FusedPacks>& fused, const Asked& asked) = 0;
  };

  /// REQUIRES: all it is given outlives it.
  Gates(const core::Scenario& scenario, EventQueue& events, Starter& starter);

  [[nodiscard]] bool holds(int pack) const { return plan_.holds(pack); }
  /// Collectives over whose connections go all that are yet to be made.
  [[nodiscard]] std::vector<core::Collective> largest() const {
    return fusing_.any() ? fusing_.largest() : std::vector<core::Collective>();
  }

  /// The replica has the pack ready; `cause` made it so.
  void ready(const core::GateRequest& request, const Cause& cause, core::Time now);
  /// What started with the pack is complete on the replica.
  void done(const core::GateRequest& request, const Cause& cause, core::Time now);
  /// It is so on all replicas.
  void forget(const core::GateBatch& batch);
  /// Handles kCycle.
  void handle(const Event& event);

  /// Visits the state of all gates.
  void visit_state(core::StateVisitor& visitor);
  /// All causes that are kept here.
  void add_causes(std::vector<Cause*>& causes);
  [[nodiscard]] std::vector<std::string> notes() const {
    return fusing_.any() ? fusing_.notes() : std::vector<std::string>();
  }

 private:
  core::Gate& gate_of(std::int64_t replica) { return *gates_[static_cast<std::size_t>(replica / replicas_per_gate_)]; }
  void carry_out(const std::vector<core::GateDecision>& decisions, const Asked* asked);
  void await_round(core::Time now);
  [[nodiscard]] Asked asked_for(const core::GateBatch& batch, std::int64_t replica) const;

  core::PlanGate plan_;
  EventQueue& events_;
  Starter& starter_;
  Fusing fusing_;
  std::int64_t replicas_;
  std::int64_t replicas_per_gate_ = 1;
  std::vector<std::unique_ptr<core::Gate>> gates_;
  core::GateProposal proposal_;  ///< in the round that is under way
  /// Where gates have rounds: by step and pack, by replica, until they are complete everywhere.
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<Asked>> asked_;
};

}  // namespace tutti::sim
