#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// The kinds of mistake that a schedule can have. Programs and tests compare these; the words of a message may change.
enum class ViolationKind : std::uint8_t {
  kDeadlock,      ///< the lane never does this step: it waits for something that never comes
  kUntaken,       ///< messages that the receiver never takes
  kNoSuchLane,    ///< a step names a lane or a rank that does not exist
  kOutside,       ///< a range reaches outside its buffer
  kNeverWritten,  ///< an element is read before anything was written there
  kLength,        ///< the two sides of a message, or the two ranges of a step, differ in length
  kNoInputs,      ///< a reduction of no inputs
  kTwice,         ///< a contribution is added a second time
  kUnlike,        ///< elements are added that do not belong together
  kUnheard,       ///< another rank's buffer is read before anything was heard from that rank
  kRace,          ///< two lanes touch the same element, one of them writing, and nothing orders them
  kWrongSum,      ///< in the end an element does not hold the sum of all contributions
  kWrongElement,  ///< in the end an element holds what belongs to another element
  kCount
};
/// "deadlock", "never-written": lower case, with hyphens.
std::string_view to_string(ViolationKind kind);

/// One mistake of a schedule, and where it shows.
struct Violation {
  ViolationKind kind = ViolationKind::kDeadlock;
  Rank rank = 0;
  Lane lane = -1;          ///< −1: the rank as a whole, as the end of the run finds it
  std::int64_t step = -1;  ///< of the lane; −1: none in particular
  Rank other_rank = -1;    ///< the one that it waits for, races with or got its message from; −1: none
  Lane other_lane = -1;
  std::int64_t element = -1;  ///< of the buffer or of the range that the step touches; −1: none
  std::string text = {};      ///< the same in a sentence

  bool operator==(const Violation&) const = default;
};

/// As a failing test shows it.
std::ostream& operator<<(std::ostream& out, const Violation& violation);

}  // namespace tutti::core
