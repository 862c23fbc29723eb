#pragma once

// Executes gates (core/plan/gate) in virtual time: reports ready packs and complete packs to the
// gates, runs their rounds, and starts the packs that they release. An agreement between replicas
// only takes time in a simulation, because one process has all replicas.

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
  /// The cause and the time of a replica's request to start a pack.
  struct Request {
    Cause cause;
    core::Time at;
  };
  /// Starts the packs that the gates have released.
  class Starter {
   public:
    virtual ~Starter() = default;
    /// Starts the batch on the replica at the current time. `fused`: the collective of a fused
    /// batch; null if the batch is a single pack, which uses the pack's own collective.
    virtual void start_passed(std::int64_t replica, const core::GateBatch& batch,
                              const std::shared_ptr<const FusedPacks>& fused,
                              const Request& requested) = 0;
  };

  /// REQUIRES: all arguments outlive this object.
  Gates(const core::Scenario& scenario, EventQueue& events, Starter& starter);

  [[nodiscard]] bool holds(int pack) const { return plan_.holds(pack); }
  /// Returns collectives whose connections include the connections of all collectives that fusing
  /// may create later.
  [[nodiscard]] std::vector<core::Collective> largest() const {
    return fusing_.any() ? fusing_.largest() : std::vector<core::Collective>();
  }

  /// Reports that the pack is ready on the replica. `cause` is the event that made the pack ready.
  void ready(const core::GateRequest& request, const Cause& cause, core::Time now);
  /// Reports that the pack's collective is complete on the replica.
  void done(const core::GateRequest& request, const Cause& cause, core::Time now);
  /// Drops the state of a batch whose collective is complete on all replicas.
  void forget(const core::GateBatch& batch);
  /// Handles kCycle.
  void handle(const Event& event);

  /// Visits the state of all gates.
  void visit_state(core::StateVisitor& visitor);
  /// Appends pointers to all causes that this object stores.
  void add_causes(std::vector<Cause*>& causes);
  [[nodiscard]] std::vector<std::string> notes() const {
    return fusing_.any() ? fusing_.notes() : std::vector<std::string>();
  }

 private:
  core::Gate& gate_of(std::int64_t replica) { return *gates_[replica / replicas_per_gate_]; }
  void execute_points(const std::vector<core::GateDecision>& decisions, const Request* requested);
  void await_round(core::Time now);
  [[nodiscard]] Request requested_for(const core::GateBatch& batch, std::int64_t replica) const;

  core::PlanGate plan_;
  EventQueue& events_;
  Starter& starter_;
  Fusing fusing_;
  std::int64_t replicas_;
  std::int64_t replicas_per_gate_ = 1;
  std::vector<std::unique_ptr<core::Gate>> gates_;
  core::GateProposal proposal_;  ///< the proposal of the current round
  /// Used only if gates have rounds. Indexed by step and pack, and then by replica: the time at
  /// which the pack became ready, and the cause. An entry is kept until the pack is complete on all
  /// replicas.
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<Request>> requested_;
};

}  // namespace tutti::sim
