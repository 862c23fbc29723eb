#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/collectives/staged_collectives.h"
#include "sim/collectives/timed_collectives.h"
#include "sim/device/device.h"
#include "sim/engine/event_queue.h"
#include "sim/folding/ties.h"
#include "sim/interpreter/collective_engine.h"
#include "sim/interpreter/interpreter.h"
#include "sim/interpreter/rounds.h"
#include "sim/network/network.h"

namespace tutti::sim {

/// Owns the engines that execute collectives, and assigns each collective to one engine. Callers
/// refer to a collective by a handle, and need not know which engine executes it.
///
/// A handle consists of the number of the engine and the instance number within this engine.
/// Simultaneous events of kind kStart are ordered by rank and then by handle, so a different order
/// of the engines could change simulated times.
class CollectiveEngines {
 public:
  /// `listener` receives the notifications about all collectives. The notifications identify
  /// collectives by their handles.
  CollectiveEngines(Network& network, Devices& devices, EventQueue& events, Ties& ties,
                    CollectiveListener& listener, bool watch_steps);
  // Not copyable, because the ports (struct Port) point to this object.
  CollectiveEngines(const CollectiveEngines&) = delete;
  CollectiveEngines& operator=(const CollectiveEngines&) = delete;

  /// Starts the detection of simultaneous events that other workers would handle in another order
  /// (sim/folding/ties.h). Must be called if one simulated worker represents several workers.
  void watch_ties();

  /// expect(), open() and close() do the same as in CollectiveEngine, but open() returns a handle.
  /// There is no start(). To start a rank, pass an event of kind kStart (`a`: handle, `b`: rank) to
  /// handle().
  void expect(const core::Collective& collective, const CollectiveEngine::GoOn& go_on);
  std::uint32_t open(const core::Collective& collective);
  void close(std::uint32_t handle);

  /// Handles an event of any kind except kCompute, kTimer and kCycle, which class Run handles.
  void handle(const Event& event) {
    switch (event.kind) {
      case EventKind::kLane: return interpreter_.go_on(event);
      case EventKind::kHop: return network_.reach(event, events_);
      case EventKind::kDeliver: return interpreter_.deliver(event);
      case EventKind::kArrive: return interpreter_.arrive(event);
      case EventKind::kSent: return interpreter_.buffer_free(event);
      case EventKind::kShare: return network_.share(event, events_);
      case EventKind::kChange: return network_.change(event, events_);
      case EventKind::kTimed:
      case EventKind::kReleased: return timed_.handle(event);
      case EventKind::kStage: return staged_.handle(event);
      default: return start(event);
    }
  }
  /// If a collective repeats identical rounds, skips them (sim/interpreter/rounds.h). Returns the
  /// duration of the skipped rounds; 0 if there are none. REQUIRES: the caller calls this function
  /// after every event.
  core::Time skip_rounds(core::Time now) {
    // This function does not loop over the engines, because virtual calls after each event would
    // take one or two percent of the run time.
    static_assert(kEngines == 3, "this names every engine");
    const bool visited =
        interpreter_.state_is_visited() && staged_.state_is_visited() && timed_.state_is_visited();
    return visited ? rounds_.look(now) : core::Time();
  }

  /// Returns the work that all engines have done so far, in the unit of work_of() below.
  [[nodiscard]] std::int64_t work_done() const;
  /// Returns the number of schedule steps that have been executed, over all lanes.
  [[nodiscard]] std::int64_t steps_executed() const { return interpreter_.steps_executed(); }
  /// Returns notes for the report. The notes explain how the run's times were computed.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  /// Forwards notifications of one engine to the listener, with handles in place of the engine's
  /// instance numbers.
  struct Port : CollectiveListener {
    CollectiveListener* listener = nullptr;
    std::uint32_t engine = 0;
    void rank_done(std::uint32_t instance, core::Rank rank, core::Time now,
                   const CausalChain& causal_chain) override;
    void step_done(const StepDone& step) override;
  };
  static constexpr int kInstanceBits = 30;
  static constexpr std::size_t kEngines = 3;

  [[nodiscard]] static std::uint32_t handle_of(std::uint32_t engine, std::uint32_t instance);
  [[nodiscard]] CollectiveEngine& engine_of(std::uint32_t handle) {
    return *engines_[handle >> kInstanceBits];
  }
  [[nodiscard]] static std::uint32_t instance_of(std::uint32_t handle) {
    return handle & ((1U << kInstanceBits) - 1);
  }
  [[nodiscard]] std::size_t engine_for(const core::Collective& collective) const;
  void start(const Event& event);

  Network& network_;
  EventQueue& events_;
  Ties& ties_;
  Interpreter interpreter_;
  TimedCollectives timed_;
  StagedCollectives staged_;
  std::array<CollectiveEngine*, kEngines> engines_;
  std::array<Port, kEngines> ports_;
  Rounds rounds_;
};

/// Returns the approximate amount of work of a collective that `groups` groups of replicas execute
/// at the same time. The work of a schedule step is 1. NCCL operations with predicted times have no
/// schedule steps. Instead, each piece of such an operation (timed_collectives.h) counts as 1, and
/// only the pieces of one group are counted.
double work_of(const core::Collective& collective, double groups);
/// Returns true if a timeline can record the schedule steps of `collective`.
bool has_steps(const core::Collective& collective);

}  // namespace tutti::sim
