#pragma once

// Long collectives consist of rounds that repeat: a ring over a million ranks has two million
// rounds. Suppose that the state of the simulation (lanes, messages, events and busy resources,
// with times relative to the current time) is the same as it was one round ago, and that the lanes'
// next steps are identical (Schedule::identical_from). Under these conditions, the following rounds
// repeat, and only the time and the counters change. The remaining rounds are therefore computed
// instead of being simulated.
//
// Causal chains need more care. A chain is a set of sums of times, and lanes and messages copy
// chains from each other. Let T(x) be the chain of lane or message x before a round, and T'(x) its
// chain after the round. In identical rounds, T'(x) = T(f(x)) + c(x): x has copied the chain of
// some f(x), to which a constant was added. If the growth d(x) = T'(x) - T(x) is the same in two
// consecutive rounds (d∘f = d), it is the same in all later rounds. Maxima that have not changed in
// one round never change. Three equal snapshots (StateSnapshot), taken one round apart, therefore
// prove that rounds repeat.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/device/device.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/state_visitor.h"
#include "sim/folding/ties.h"
#include "sim/interpreter/interpreter.h"
#include "sim/interpreter/state_snapshot.h"
#include "sim/network/network.h"

namespace tutti::sim {

/// Observes a run, detects when the rounds of a collective repeat, and skips the repeated rounds.
class Rounds {
 public:
  Rounds(Interpreter& interpreter, Network& network, Devices& devices, EventQueue& events,
         Ties& ties)
      : interpreter_(interpreter),
        network_(network),
        devices_(devices),
        events_(events),
        ties_(ties) {}

  /// Skips repeated rounds, if there are any. Returns the total duration of the skipped rounds,
  /// which is usually 0.
  /// REQUIRES: the caller calls this function after every event, with the time of the event.
  core::Time look(core::Time now) {
    if (pace_ ? interpreter_.progress(*pace_).value_or(due_) < due_ : ++idle_ < rest_) return {};
    return compare_rounds(now);
  }
  /// Returns the number of schedule steps that were not simulated.
  [[nodiscard]] std::int64_t steps_skipped() const { return steps_skipped_; }

 private:
  /// The minimum number of events between two attempts to find repeated rounds. The number is so
  /// large that the attempts cost little compared with the events.
  static constexpr std::int64_t kRest = 16'384;
  static constexpr std::int64_t kRestPerLane = 64;
  static constexpr std::int64_t kMaxLanes = 4096;
  static constexpr std::int64_t kFewRounds = 32;  ///< an attempt is made only if at least this
                                                  ///< number of rounds remains

  core::Time compare_rounds(core::Time now);
  void begin();
  void give_up();
  void longer_rounds(StateSnapshot last);
  [[nodiscard]] StateSnapshot snapshot(core::Time now);
  [[nodiscard]] std::vector<Event> ours(std::vector<Event>& others) const;
  void visit(StateVisitor& visitor, std::vector<Event>& ours);
  core::Time skip(core::Time now);

  Interpreter& interpreter_;
  Network& network_;
  Devices& devices_;
  EventQueue& events_;
  Ties& ties_;
  std::int64_t idle_ = 0;  ///< number of events since the last search for repeated rounds
  std::int64_t rest_ = kRest;
  std::optional<Interpreter::Pace> pace_;  ///< the lane whose progress determines when snapshots
                                           ///< are taken
  std::int64_t round_ = 1;                 ///< assumed length of a round, in steps of the lane in
                                           ///< `pace_`
  std::int64_t due_ = 0;  ///< step of the lane in `pace_` at which the next snapshot is taken
  std::vector<StateSnapshot> snapshots_;  ///< up to three snapshots, one per round
  std::int64_t steps_skipped_ = 0;
};

}  // namespace tutti::sim
