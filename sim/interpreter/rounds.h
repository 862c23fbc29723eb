#pragma once

// Long collectives are rounds that repeat: a ring over a million ranks has two million. If everything under way (lanes,
// messages, events, who is busy and for how long) is, seen from now, as it was some rounds ago, and the steps to come are alike
// (Schedule::alike_from), then those rounds come again, and again: all that changes is the time, and what is counted. So
// they are told, and not simulated.
//
// What happened is accounted for by trails, which lanes and messages take over from each other. In equal rounds each trail
// becomes, by the same rule, another one with the same times added: T' = T∘f + c. So if in two rounds that follow each other each trail has
// grown by the same, d∘f = d, it always will. (Their maxima stay once they have stayed for a round.) So three
// portraits of the state, a round apart, are a proof.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/device/device.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/state_visitor.h"
#include "sim/folding/ties.h"
#include "sim/interpreter/interpreter.h"
#include "sim/interpreter/portrait.h"
#include "sim/network/network.h"

namespace tutti::sim {

/// Watches one run, and moves it on where its rounds repeat.
class Rounds {
 public:
  Rounds(Interpreter& interpreter, Network& network, Devices& devices, EventQueue& events, Ties& ties)
      : interpreter_(interpreter), network_(network), devices_(devices), events_(events), ties_(ties) {}

  /// Call after each event, at its time. Answers how much later it is now.
  core::Time look(core::Time now) {
    if (pace_ ? interpreter_.progress(*pace_).value_or(due_) < due_ : ++idle_ < rest_) return {};
    return look_closely(now);
  }
  /// Steps of lanes that were not simulated.
  [[nodiscard]] std::int64_t steps_skipped() const { return steps_skipped_; }

 private:
  /// Events between attempts; what an attempt costs is a small part of theirs.
  static constexpr std::int64_t kRest = 16'384;
  static constexpr std::int64_t kRestPerLane = 64;
  static constexpr std::int64_t kMostLanes = 4096;
  static constexpr std::int64_t kFewRounds = 32;  ///< not worth an attempt

  core::Time look_closely(core::Time now);
  void begin();
  void give_up();
  void longer_rounds(Portrait last);
  [[nodiscard]] Portrait portrait(core::Time now);
  [[nodiscard]] std::vector<Event> ours(std::vector<Event>& others) const;
  void visit(StateVisitor& visitor, std::vector<Event>& ours);
  core::Time skip(core::Time now);

  Interpreter& interpreter_;
  Network& network_;
  Devices& devices_;
  EventQueue& events_;
  Ties& ties_;
  std::int64_t idle_ = 0;  ///< events since the last attempt
  std::int64_t rest_ = kRest;
  std::optional<Interpreter::Pace> pace_;  ///< the lane whose steps are counted, while portraits are taken
  std::int64_t round_ = 1;                 ///< steps of that lane that may be a round
  std::int64_t due_ = 0;                   ///< where that lane is when the next portrait is taken
  std::vector<Portrait> portraits_;        ///< up to three, a round apart
  std::int64_t steps_skipped_ = 0;
};

}  // namespace tutti::sim
