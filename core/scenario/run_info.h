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

/// Returns the names of a pack's gradients or variables.
std::vector<std::string> names_of(const Workload& workload, const Pack& pack);

/// Returns the description of a run for its timeline: the scenario, the plan, and the lower bounds.
RunInfo run_info(const Scenario& scenario, const std::string& executor);

/// Returns notes about the parts of a run that `record` excludes from the timeline. Empty if the
/// timeline has all records, or no records.
std::vector<std::string> recording_notes(const RecordOptions& record, const Cluster& cluster);
/// Returns the note that all spans up to `last` were recorded, and no later spans, because the
/// number of spans is limited to `most_spans`.
std::string limit_note(Time last, std::int64_t most_spans);
/// Returns the note that some spans of training step `step` and of later steps were not recorded,
/// because the number of spans is limited to `most_spans`.
std::string limit_note_of_step(std::int32_t step, std::int64_t most_spans);

/// Returns true if the note states that a part of the run was not recorded. Also recognizes the
/// notes of earlier versions.
bool is_recording_note(std::string_view note);
/// The part of a run whose spans were recorded.
struct RecordedPart {
  Time from;
  Time to = kNever;
};
/// Returns the part of the run whose spans were recorded according to `notes`; nullopt if no note
/// restricts the times. Notes have exact times. `steps`: the training steps of the run.
std::optional<RecordedPart> recorded_part(const std::vector<std::string>& notes,
                                          const std::vector<StepRecord>& steps);

}  // namespace tutti::core
