#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/timeline/compare.h"
#include "gui/model/alignment.h"
#include "gui/model/trace.h"

namespace tutti::gui {

class BesideRows;

/// Two timelines on one time axis: what was predicted and what happened, or two predictions.
struct Beside {
  std::shared_ptr<const Trace> trace;  ///< rows of the first, then of the second
  std::string apart;            ///< what it is called that they are apart: "error" of a prediction, else "difference"
  Align align = Align::kStart;  ///< as it came out: kStart if what was asked for is not possible
  core::Numbers packs;          ///< that hold the same gradients
  std::vector<core::StepComparison> steps;  ///< that both ended
  /// What they do not have in common, in sentences; that first which says that nothing is, and what else was done than asked.
  std::vector<std::string> differences;

  /// A span by its track and its start in its own file.
  [[nodiscard]] std::optional<SpanId> find(std::size_t side, core::TrackId track, core::Time start) const;
  /// A pack in flight on the device of the first where it is over last.
  [[nodiscard]] std::optional<SpanId> find_pack(std::int32_t step, std::int32_t pack) const;
  /// A training step; nothing if no side ended it.
  [[nodiscard]] std::optional<TimeRange> find_step(std::int32_t step) const;

  std::array<std::shared_ptr<const Trace>, 2> sources;
  std::shared_ptr<const BesideRows> rows;
  Alignment alignment;
};

/// REQUIRES: both are of one file each. `names`: files, which the two are called by where nothing better tells them apart.
/// Cost: linear in steps and packs, with kPack in spans; and of a copy of all times. Once it is stopped it ends soon, without a trace.
Beside put_beside(std::shared_ptr<const Trace> first, std::shared_ptr<const Trace> second, Align align,
                  const std::array<std::string, 2>& names, const std::atomic<bool>& stop = kNeverStop);

/// What the two are called: "simulated" and "real" if they are that; else by what they differ in.
std::array<std::string, 2> names_of(const core::RunInfo& first, const core::RunInfo& second,
                                    const std::array<std::string, 2>& files);

/// Whether the first is a prediction and the second is none.
bool is_prediction(const core::RunInfo& first, const core::RunInfo& second);

/// "+1.2 ms (+3.4 %)".
std::string signed_difference(const core::Pair& time);
/// "+3.4 %", "0.0 %", with so many digits; empty if the first takes no time.
std::string signed_share(const core::Pair& time, int digits = 1);

}  // namespace tutti::gui
