#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/scenario/executor.h"
#include "core/scenario/scenario.h"
#include "core/timeline/timeline.h"

namespace tutti::core {

/// Returns the names of the gradients or variables in a pack.
std::vector<std::string> names_of(const Workload& workload, const Pack& pack);

/// Returns the description of a run for its timeline: the scenario, the plan and the lower bounds.
RunInfo run_info(const Scenario& scenario, const std::string& executor);

/// Returns notes that say which parts of a run are not in the timeline because of `record`. Empty
/// if `record` includes all spans of the run, or if its level is kNone.
std::vector<std::string> recording_notes(const RecordOptions& record, const Cluster& cluster);
/// Returns the note for a timeline that has all spans until `last` and no later spans, because at
/// most `most_spans` spans are recorded.
std::string limit_note(Time last, std::int64_t most_spans);
/// Returns the note for a timeline in which spans of training step `step` and of later steps are
/// missing, because at most `most_spans` spans are recorded.
std::string limit_note_of_step(std::int32_t step, std::int64_t most_spans);

/// True if the note says that a part of the run was not recorded. Notes of earlier versions are
/// recognized too.
bool is_recording_note(std::string_view note);
/// The part of a run for which spans were recorded.
struct RecordedPart {
  Time from;
  Time to = kNever;
};
/// Returns the part of the run for which spans were recorded, according to `notes`; nullopt if no
/// note limits the times. Notes contain exact times or, for limit_note_of_step(), a training step;
/// `steps` gives the times of the training steps.
std::optional<RecordedPart> recorded_part(const std::vector<std::string>& notes,
                                          const std::vector<StepRecord>& steps);

}  // namespace tutti::core
