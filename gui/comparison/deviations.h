#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "gui/comparison/comparison.h"

namespace tutti::gui {

/// An activity that both timelines contain, with its duration in each timeline.
struct Deviation {
  enum class Sort {
    kStep,  ///< a training step
    kPart,  ///< a component of a training step on the slowest replica, such as exposed
            ///< communication
    kPack,  ///< a pack, from its launch on the last device to its end on all devices
    kSpan   ///< a span of one device
  };
  Sort sort = Sort::kStep;
  std::int32_t step = 0;
  std::int32_t pack = -1;  ///< the pack's number in the first timeline; -1: none
  /// The kind of the activity, such as "step", "exposed communication", "pack in flight" or
  /// "receive-send".
  std::string what;
  std::string where;  ///< for kSpan: device and lane, such as "w0/gpu1, lane 0"
  core::Pair time;
  /// For kSpan: the track in the first timeline, and the start of the span in that timeline's file.
  core::TrackId track = core::kNoTrack;
  core::Time start{};
};

/// Returns the deviations of all training steps and of their components, the largest deviations of
/// packs (at most `most`), and the largest deviations of spans (at most `most`). The result is
/// sorted by magnitude, largest first. The functions core::join_lane_steps() and
/// core::join_other_spans() pair the spans. Spans are compared by their duration, without the time
/// for which they waited.
/// ERRORS: a block is damaged; `stop` was set (kRun). Cost: linear in the number of spans of both
/// files.
core::Expected<std::vector<Deviation>> largest_deviations(
    const core::TimelineReader& a, const core::TimelineReader& b,
    const std::vector<core::StepComparison>& steps, const core::Numbers& packs, std::size_t most,
    const std::atomic<bool>& stop);

}  // namespace tutti::gui
