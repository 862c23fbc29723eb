#pragma once

// Long collectives consist of rounds that repeat: a ring over a million ranks has two million
// rounds. If all current state (lanes, messages, events, busy resources), relative to the current
// time, equals the state of some rounds ago, and the steps to come are identical
// (Schedule::identical_from), then these rounds repeat, and only the time and the counters change.
// So the remaining rounds are accounted for without being simulated.
//
// Causal chains account for time, and lanes and messages take them over from each other. In equal
// rounds, the new chain of each lane or message x is an old chain f(x) plus constant times: T'(x) =
// T(f(x)) + c(x). If the growth d of all chains is the same in two consecutive rounds (d∘f = d), it
// is the same in all later ones. (Maxima that have not changed for one round never change.) Three
// equal snapshots of the state (StateSnapshot), taken one round apart, are therefore a proof.

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

/// Observes one run, and advances it when the rounds of a collective repeat.
class Rounds {
 public:
  Rounds(Interpreter& interpreter, Network& network, Devices& devices, EventQueue& events,
         Ties& ties)
      : interpreter_(interpreter),
        network_(network),
        devices_(devices),
        events_(events),
        ties_(ties) {}

  /// Returns by how much time the run was advanced; usually 0. REQUIRES: called after each event,
  /// with its time.
  core::Time look(core::Time now) {
    if (pace_ ? interpreter_.progress(*pace_).value_or(due_) < due_ : ++idle_ < rest_) return {};
    return look_closely(now);
  }
  /// Returns the number of lane steps that were not simulated.
  [[nodiscard]] std::int64_t steps_skipped() const { return steps_skipped_; }

 private:
  /// The minimum number of events between attempts, so that attempts cost little in comparison.
  static constexpr std::int64_t kRest = 16'384;
  static constexpr std::int64_t kRestPerLane = 64;
  static constexpr std::int64_t kMaxLanes = 4096;
  static constexpr std::int64_t kFewRounds = 32;  ///< no attempt if fewer rounds remain

  core::Time look_closely(core::Time now);
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
  std::int64_t idle_ = 0;  ///< number of events since the last attempt
  std::int64_t rest_ = kRest;
  std::optional<Interpreter::Pace> pace_;  ///< the lane whose steps are counted between snapshots
  std::int64_t round_ = 1;                 ///< assumed length of a round, in steps of that lane
  std::int64_t due_ = 0;                  ///< step of that lane at which the next snapshot is taken
  std::vector<StateSnapshot> portraits_;  ///< up to three snapshots, one per round
  std::int64_t steps_skipped_ = 0;
};

}  // namespace tutti::sim
