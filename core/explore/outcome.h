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

/// The result of a point of a sweep: the times of the simulated scenario, or the reason why this
/// scenario could not be simulated.
struct Outcome {
  enum class Status {
    kDone = 0,
    kRefused = 1,  ///< the point's scenario is invalid
    kFailed = 2    ///< the run began but failed
  };
  Status status = Status::kDone;
  std::string message;  ///< all problems, one per line; for kDone, the reason why the run was
                        ///< stopped early, or empty

  Time step;  ///< step time in the steady state; the times below are also means over the steady
              ///< state
  Time forward;
  Time backward;
  Time other_compute;
  Time communication;
  Time exposed;
  Time slowed;
  Time step_bound;           ///< lower bound of the step time
  Time communication_bound;  ///< lower bound of the time of all gradient all-reduces
  std::int64_t packs = 0;
  std::uint64_t seed = 0;
  /// True if the run was ended early because it was slow. If `stopped` is true, `step` is the mean
  /// time of the completed steps, but at least the limit at which the run was stopped.
  bool stopped = false;
  bool operator==(const Outcome&) const = default;
};

/// Returns "done", "refused" or "failed".
std::string_view to_string(Outcome::Status status);

/// Returns the outcome of a run, from its summary. REQUIRES: a training step has ended.
Outcome outcome_of(const Summary& summary);
Outcome outcome_of(const Error& error);

/// Serialises an outcome for another process. outcome_from_text() parses it, and returns nullopt if
/// the text is invalid.
std::string to_text(const Outcome& outcome);
std::optional<Outcome> outcome_from_text(std::string_view text);

/// One of the times of an outcome, with its names in databases, tables and plots.
struct Cost {
  const char* name;   ///< name: "step_time"; names of columns have the unit appended
  const char* title;  ///< title in tables and plots: "step time"
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
