#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/timeline/compare.h"
#include "gui/comparison/alignment.h"
#include "gui/trace/trace.h"

namespace tutti::gui {

class ComparisonRows;

/// Two timelines on one time axis: what was predicted and what happened, or two predictions.
struct Comparison {
  std::shared_ptr<const Trace> trace;  ///< rows of the first timeline, then those of the second
  std::string
      apart;  ///< the name of a deviation: "error" if the first is a prediction, else "difference"
  Align align = Align::kStart;  ///< alignment in use; kStart if the requested one is impossible
  core::Numbers packs;          ///< numbers of packs that hold the same gradients in both timelines
  std::vector<core::StepComparison> steps;  ///< training steps that both timelines completed
  /// Returns the differences in what was recorded, in sentences. The first ones say if nothing is
  /// in common, and if the result differs from the request.
  std::vector<std::string> differences;

  /// Returns the span of a track that starts at `start` in its own file.
  [[nodiscard]] std::optional<SpanId> find(std::size_t side, core::TrackId track,
                                           core::Time start) const;
  /// Returns a pack in flight, on the device of the first timeline on which it ends last.
  [[nodiscard]] std::optional<SpanId> find_pack(std::int32_t step, std::int32_t pack) const;
  /// Returns the range of a training step; nullopt if neither side completed it.
  [[nodiscard]] std::optional<TimeRange> find_step(std::int32_t step) const;

  std::array<std::shared_ptr<const Trace>, 2> sources;
  std::shared_ptr<const ComparisonRows> rows;
  Alignment alignment;
};

/// Combines two timelines. `names`: their files, used as names if the runs do not differ in
/// anything better. REQUIRES: each is of one file.
/// Cost: linear in steps and packs, with kPack in spans, plus one copy of all times. If `stop` is
/// set, returns soon, without a trace.
Comparison compare_traces(std::shared_ptr<const Trace> first, std::shared_ptr<const Trace> second,
                          Align align, const std::array<std::string, 2>& names,
                          const std::atomic<bool>& stop = kNeverStop);

/// Returns names for the two runs: "simulated" and "real" if they are that; else what they differ
/// in.
std::array<std::string, 2> names_of(const core::RunInfo& first, const core::RunInfo& second,
                                    const std::array<std::string, 2>& files);

/// Returns true if the first is a prediction and the second is not.
bool is_prediction(const core::RunInfo& first, const core::RunInfo& second);

/// "+1.2 ms (+3.4 %)".
std::string signed_difference(const core::Pair& time);
/// Formats a relative difference with `digits` decimals: "+3.4 %", "0.0 %"; empty if the first
/// takes no time.
std::string signed_share(const core::Pair& time, int digits = 1);

}  // namespace tutti::gui
