#pragma once

// Executes gates (core/plan/gate) in virtual time. A gate decides when packs start. Class Gates
// reports ready and completed packs to the gates, runs the gates' rounds, and starts the packs that
// gates release. In a real run, replicas must agree on the packs; in a simulation, the agreement
// only takes time, because one process has all replicas.

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
  /// A replica's request to start a pack: its cause and its time.
  struct Request {
    Cause cause;
    core::Time at;
  };
  /// The interface through which Gates starts packs.
  class Starter {
   public:
    virtual ~Starter() = default;
    /// Starts the batch on the replica at the current time. `fused` contains the collective of a
    /// batch of fused packs; null if the batch is a single pack, which has its own collective.
    virtual void start_passed(std::int64_t replica, const core::GateBatch& batch,
                              const std::shared_ptr<const FusedPacks>& fused,
                              const Request& requested) = 0;
  };

  /// REQUIRES: all arguments outlive this object.
  Gates(const core::Scenario& scenario, EventQueue& events, Starter& starter);

  [[nodiscard]] bool governs(int pack) const { return plan_.governs(pack); }
  /// Returns collectives that use all connections which collectives of fused packs may use later.
  [[nodiscard]] std::vector<core::Collective> largest() const {
    return fusing_.any() ? fusing_.largest() : std::vector<core::Collective>();
  }

  /// Reports that the pack is ready on the replica. `cause` is the event that made the pack ready.
  void ready(const core::GateRequest& request, const Cause& cause, core::Time now);
  /// Reports that the pack's collective is complete on the replica.
  void done(const core::GateRequest& request, const Cause& cause, core::Time now);
  /// Deletes the state of a batch. Called when the batch's collective is complete on all replicas.
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
  /// For each step and pack, the requests of all replicas: when the pack became ready, and why.
  /// Used only if gates have rounds. An entry is kept until the pack is complete on all replicas.
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<Request>> requested_;
};

}  // namespace tutti::sim
