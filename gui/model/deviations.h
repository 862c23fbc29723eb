#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "gui/model/beside.h"

namespace tutti::gui {

/// Something that two timelines both have, and how far apart they are about it.
struct Deviation {
  enum class Sort {
    kStep,  ///< a training step
    kPart,  ///< what the slowest replica's step is made of
    kPack,  ///< from its launch on the last device to its end on all
    kSpan   ///< a span of one device
  };
  Sort sort = Sort::kStep;
  std::int32_t step = 0;
  std::int32_t pack = -1;  ///< the first's number
  std::string what;        ///< "step", "exposed communication", "pack in flight", "receive-send"
  std::string where;       ///< kSpan: "w0/gpu1, lane 0"
  core::Pair time;
  core::TrackId track = core::kNoTrack;  ///< kSpan: the first's, and when it begins in its file
  core::Time start{};
};

/// Returns the deviations, largest magnitude first: those of all steps and parts, and the `most`
/// largest of packs and of spans.
/// Spans are compared as core::join_lane_steps() pairs them, by their time without waiting.
/// ERRORS: a damaged block; stopped (kRun). Cost: one look at every span of both files.
core::Expected<std::vector<Deviation>> largest_deviations(const core::TimelineReader& a, const core::TimelineReader& b,
                                                          const std::vector<core::StepComparison>& steps,
                                                          const core::Numbers& packs, std::size_t most,
                                                          const std::atomic<bool>& stop);

}  // namespace tutti::gui
