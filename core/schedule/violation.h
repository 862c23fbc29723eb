#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// The kinds of mistakes in a schedule. Programs and tests can rely on the kinds; the wording of
/// messages may change.
enum class ViolationKind : std::uint8_t {
  kDeadlock,       ///< a step of a lane is blocked forever
  kNeverReceived,  ///< messages are never received
  kNoSuchLane,     ///< a step refers to a lane or a rank that does not exist
  kOutside,        ///< a range reaches outside its buffer
  kNeverWritten,   ///< an element is read before it is written
  kLength,    ///< the two sides of a message, or the two ranges of a step, have different lengths
  kNoInputs,  ///< a reduction has no inputs
  kTwice,     ///< a contribution is added a second time
  kUnlike,    ///< a sum combines elements with different indices
  kReadBeforeMessage,  ///< a step reads another rank's buffer before a message from that rank has
                       ///< arrived
  kRace,      ///< two lanes access the same element in no defined order, and at least one of them
              ///< writes
  kWrongSum,  ///< in the result, an element lacks a contribution or has one that does not belong to
              ///< it
  kWrongElement,  ///< in the result, an element contains the data of an element with another index
  kCount
};
/// Returns the name, in lower case with hyphens: "deadlock", "never-written".
std::string_view to_string(ViolationKind kind);

/// A mistake in a schedule and its location.
struct Violation {
  ViolationKind kind = ViolationKind::kDeadlock;
  Rank rank = 0;
  Lane lane = -1;          ///< -1: the violation concerns the final state of the rank
  std::int64_t step = -1;  ///< index of the step in the lane; -1: no particular step
  Rank other_rank = -1;    ///< another rank that is involved: the step waits for this rank, races
                           ///< with it, or received a message from it; -1: none
  Lane other_lane = -1;
  std::int64_t element = -1;  ///< index of the element that is involved, counted in the buffer or
                              ///< in the range that the step accesses; -1: no particular element
  std::string text = {};      ///< a description in one sentence

  bool operator==(const Violation&) const = default;
};

/// Prints a violation for a failing test.
std::ostream& operator<<(std::ostream& out, const Violation& violation);

}  // namespace tutti::core
