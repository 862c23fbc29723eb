#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/timeline/compare.h"
#include "gui/comparison/alignment.h"
#include "gui/trace/trace.h"

namespace tutti::gui {

class ComparisonRows;

/// Two timelines on one time axis, such as a prediction and a real run, or two predictions.
struct Comparison {
  std::shared_ptr<const Trace> trace;  ///< the combined trace: the rows of the first timeline,
                                       ///< followed by the rows of the second
  /// The word for a deviation: "error" if the first timeline is a prediction and the second is not,
  /// else "difference".
  std::string apart;
  /// The alignment in use; kStart if the requested alignment is impossible.
  Align align = Align::kStart;
  core::Numbers packs;  ///< the packs that have the same gradients in both timelines, by their
                        ///< numbers in each timeline
  std::vector<core::StepComparison> steps;  ///< training steps that both timelines completed
  /// Sentences about records that only one of the timelines has. If the timelines have nothing in
  /// common, or if the alignment differs from the request, the first sentences state this.
  std::vector<std::string> differences;

  /// Finds the span that starts at `start`, or otherwise the span that covers `start`, on track
  /// `track` of a side's own timeline. Returns the span of the combined trace that shows the span
  /// that was found. Side 0 is the first timeline, and side 1 is the second.
  [[nodiscard]] std::optional<SpanId> find(std::size_t side, core::TrackId track,
                                           core::Time start) const;
  /// Returns the span of the first timeline in which the pack is in flight. If the pack is in
  /// flight on several devices, returns the span that ends last.
  [[nodiscard]] std::optional<SpanId> find_pack(std::int32_t step, std::int32_t pack) const;
  /// Returns the time range of a training step; nullopt if neither side completed the step.
  [[nodiscard]] std::optional<TimeRange> find_step(std::int32_t step) const;

  std::array<std::shared_ptr<const Trace>, 2> sources;
  std::shared_ptr<const ComparisonRows> rows;
  Alignment alignment;
};

/// Combines two timelines. `names`: the file names of the timelines, which name the sides if
/// nothing else distinguishes the runs. If `stop` is set, returns a result without a trace after a
/// short time.
/// REQUIRES: each trace has only one timeline.
/// Cost: a copy of all times, plus time linear in the number of steps and packs; with kPack, also
/// time linear in the number of spans.
Comparison compare_traces(std::shared_ptr<const Trace> first, std::shared_ptr<const Trace> second,
                          Align align, const std::array<std::string, 2>& names,
                          const std::atomic<bool>& stop = kNeverStop);

/// Returns names for the two runs: "simulated" and "real" if one run is simulated and the other is
/// real; otherwise a property that distinguishes the two runs.
std::array<std::string, 2> names_of(const core::RunInfo& first, const core::RunInfo& second,
                                    const std::array<std::string, 2>& files);

/// Returns true if the first run is a prediction and the second run is real.
bool is_prediction(const core::RunInfo& first, const core::RunInfo& second);

/// Formats the difference of two times: "+1.2 ms (+3.4 %)".
std::string signed_difference(const core::Pair& time);
/// Formats the relative difference of two times with `digits` decimals: "+3.4 %", "0.0 %"; empty if
/// the first time is 0.
std::string signed_share(const core::Pair& time, int digits = 1);

}  // namespace tutti::gui
