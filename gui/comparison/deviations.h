#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "gui/comparison/comparison.h"

namespace tutti::gui {

/// Something that both timelines have, and the difference of its duration.
struct Deviation {
  enum class Sort {
    kStep,  ///< a training step
    kPart,  ///< a component of the slowest replica's step
    kPack,  ///< a pack, from its launch on the last device to its end on all devices
    kSpan   ///< a span of one device
  };
  Sort sort = Sort::kStep;
  std::int32_t step = 0;
  std::int32_t pack = -1;  ///< number of the pack in the first timeline; -1: none
  /// Kind of activity: "step", "exposed communication", "pack in flight", "receive-send".
  std::string what;
  std::string where;  ///< kSpan: device and lane, such as "w0/gpu1, lane 0"
  core::Pair time;
  core::TrackId track =
      core::kNoTrack;  ///< kSpan: the track in the first timeline, and the start in its file
  core::Time start{};
};

/// Returns the deviations, largest magnitude first: those of all steps and parts, and the `most`
/// largest of packs and of spans.
/// Spans are compared as core::join_lane_steps() pairs them, by their time without waiting.
/// ERRORS: a damaged block; stopped (kRun). Cost: one look at every span of both files.
core::Expected<std::vector<Deviation>> largest_deviations(
    const core::TimelineReader& a, const core::TimelineReader& b,
    const std::vector<core::StepComparison>& steps, const core::Numbers& packs, std::size_t most,
    const std::atomic<bool>& stop);

}  // namespace tutti::gui
