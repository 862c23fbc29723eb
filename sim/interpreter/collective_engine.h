#pragma once

#include <cstdint>
#include <functional>

#include "core/base/units.h"
#include "core/schedule/step.h"
#include "core/strategy/collective.h"
#include "sim/engine/causal_chain.h"
#include "sim/engine/event_queue.h"

namespace tutti::sim {

/// A schedule step that a lane has completed.
struct StepDone {
  std::uint32_t instance = 0;
  core::Rank rank = 0;
  core::Lane lane = 0;
  std::int64_t index = 0;
  core::Step step;
  core::Time start;  ///< time at which the lane reached the step
  /// The time for which the step waited: from `start` until the awaited lane had made progress,
  /// until a slot became free or, for a receive, until the message began to move.
  core::Time wait;
  core::Time end;
  core::Rank peer = -1;  ///< for a receive: the rank that sent the message; otherwise -1
  core::Lane peer_lane = -1;
  std::int64_t peer_index = -1;  ///< for a receive: index of the sender's step in its lane;
                                 ///< otherwise -1
};

/// Interface for notifications about collectives. The engine calls these functions from inside
/// CollectiveEngine::start() and handle().
class CollectiveListener {
 public:
  virtual ~CollectiveListener() = default;
  /// Reports that the collective is complete on a rank. `causal_chain` begins with the launch of
  /// the collective on some rank.
  virtual void rank_done(std::uint32_t instance, core::Rank rank, core::Time now,
                         const CausalChain& causal_chain) = 0;
  /// Reports that a schedule step is complete. The calls for one lane are in the order of
  /// `step.end`. Only engines that execute schedules call this function, and only if steps are
  /// recorded.
  virtual void step_done(const StepDone& step) = 0;
};

/// An engine that executes collectives in virtual time (real::Collectives does the same in real
/// time). There are three engines. The first interprets schedules (interpreter.h). The second
/// engine occupies links for a predicted time (timed_collectives.h). The third engine divides a
/// collective into parts, which the other two engines execute one after the other
/// (staged_collectives.h). CollectiveEngines chooses the engine for each collective.
///
/// Every engine numbers its own instances from 0, and uses the lowest free number first. If no
/// collective is in flight when a training step begins, the step therefore uses the same numbers as
/// the previous step (sim/run/repetition.h).
class CollectiveEngine {
 public:
  /// A callback that returns false to cancel a long operation.
  using GoOn = std::function<bool()>;

  virtual ~CollectiveEngine() = default;

  /// Returns true if this engine can execute the collective. If several engines can execute a
  /// collective, CollectiveEngines uses the last of them in its list.
  [[nodiscard]] virtual bool takes(const core::Collective& collective) const = 0;
  /// Registers the links that the collective will use. Must be called before the first message of
  /// the run. With many ranks, expect() may take minutes, so it calls `go_on` regularly, and stops
  /// if `go_on` returns false.
  virtual void expect(const core::Collective& collective, const GoOn& go_on) = 0;
  /// Creates an instance of a collective and returns its number. The instance executes nothing
  /// until its ranks start. REQUIRES: `collective` and `listener` outlive the instance.
  virtual std::uint32_t open(const core::Collective& collective, CollectiveListener& listener) = 0;
  /// Starts the collective on a rank.
  virtual void start(std::uint32_t instance, core::Rank rank, core::Time now) = 0;
  /// Frees an instance that every rank has completed. The instance number may be used again.
  virtual void close(std::uint32_t instance) = 0;
  /// Handles an event that this engine or its messages caused.
  virtual void handle(const Event& event) = 0;

  /// Returns the work that this engine has done so far, in the unit of sim::work_of()
  /// (sim/collectives/collective_engines.h).
  [[nodiscard]] virtual std::int64_t work_done() const = 0;
  /// Returns true if class Rounds visits all state of this engine on which future events depend.
  /// (Rounds compares states to detect repeated rounds.)
  [[nodiscard]] virtual bool state_is_visited() const = 0;

 protected:
  CollectiveEngine() = default;
  CollectiveEngine(const CollectiveEngine&) = default;
  CollectiveEngine& operator=(const CollectiveEngine&) = default;
};

}  // namespace tutti::sim
