#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/timeline/summary.h"

namespace tutti::core {

/// What became of a point: what its scenario costs, or why that is not known.
struct Outcome {
  enum class Status {
    kDone = 0,
    kRefused = 1,  ///< no such scenario can be
    kFailed = 2    ///< it began and could not go on
  };
  Status status = Status::kDone;
  std::string message;  ///< all that was wrong, a line each; empty where it is done, unless it was `stopped`

  Time step;  ///< of the steady state, as all below
  Time forward;
  Time backward;
  Time other_compute;
  Time communication;
  Time exposed;
  Time slowed;
  Time step_bound;           ///< no step takes less,
  Time communication_bound;  ///< no all-reduce of the gradients
  std::int64_t packs = 0;
  std::uint64_t seed = 0;
  bool stopped =
      false;  ///< before its end, since it was slow: `step` is the mean of the steps that ended, and no less than what made it hopeless
  bool operator==(const Outcome&) const = default;
};

/// "done", "refused", "failed".
std::string_view to_string(Outcome::Status status);

/// What a run's summary says of it. REQUIRES: a step ended.
Outcome outcome_of(const Summary& summary);
Outcome outcome_of(const Error& error);

/// An outcome as a text for another process, and back; nothing if the text is none.
std::string to_text(const Outcome& outcome);
std::optional<Outcome> outcome_from_text(std::string_view text);

/// The times of an outcome, by the names under which databases, tables and plots have them.
struct Cost {
  const char* name;   ///< "step_time": columns add the unit
  const char* title;  ///< "step time": for people
  Time Outcome::*time;
};
inline constexpr std::array<Cost, 9> kCosts{
    {{"step_time", "step time", &Outcome::step},
     {"forward", "forward pass", &Outcome::forward},
     {"backward", "backward pass", &Outcome::backward},
     {"other_compute", "copies and updates", &Outcome::other_compute},
     {"communication", "communication", &Outcome::communication},
     {"exposed_communication", "exposed communication", &Outcome::exposed},
     {"slowed_by_communication", "slowed by communication", &Outcome::slowed},
     {"least_step_time", "lower bound of the step time", &Outcome::step_bound},
     {"least_communication", "lower bound of the communication", &Outcome::communication_bound}}};

}  // namespace tutti::core
