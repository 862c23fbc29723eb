#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/advice/promise.h"
#include "core/advice/recommend.h"
#include "core/advice/snippets.h"
#include "core/explore/outcome.h"
#include "core/explore/space.h"
#include "core/timeline/summary.h"

namespace tutti::tools {

/// A simulated scenario with everything that is reported about it.
struct Told {
  core::Scenario scenario;
  core::Summary summary;
  core::Outcome outcome;
};

/// The cost along one axis around the best setting; all other fields are fixed at the best.
struct AxisCurve {
  std::string field;
  /// Values and their outcomes, in the order of the axis.
  std::vector<std::pair<std::string, core::Outcome>> values;
  std::size_t best = 0;  ///< index of the best setting's value
};

/// Both settings on a cluster with changed parameters.
struct Sensitivity {
  std::string what;  ///< description such as "half the bandwidth of all links"
  core::Time now, best;
};

/// A snippet, and the step time with the packing by its own framework.
struct PromisedSnippet {
  core::Snippet snippet;
  core::Outcome outcome;
  std::string why_not;  ///< reason why it is not recommended; empty if it is
};

/// A setting that seems to be faster than the recommended one, but by times that are not
/// comparable.
struct Rival {
  std::vector<std::string> values;
  core::Outcome outcome;
  std::string why;  ///< reason why it cannot be compared
};

/// A setting that is faster than the recommended one, but would be slower than the current one on a
/// cluster with other links.
struct Lost {
  std::vector<std::string> values;
  core::Outcome outcome;
  Sensitivity on;
};

struct TuneResult {
  Told now;
  /// The best of the settings that are comparable with `now`; nullopt: none of them is comparable,
  /// or comes close to the current one.
  std::optional<Told> best;
  std::optional<Rival> rival;
  std::vector<Lost> lost;
  core::Advice advice;
  std::vector<std::string> fields;
  std::vector<std::string> values;  ///< values of the best setting
  std::int64_t tried = 0, stopped = 0, refused = 0, left_out = 0, in_all = 0, beside = 0;
  std::int64_t not_comparable = 0;  ///< number of simulated points that are not comparable
  double promised = 0;
  std::string refusal;  ///< reason why the first invalid setting is invalid
  std::uint64_t seed = 0;
  std::vector<AxisCurve> curves;
  std::vector<Sensitivity> sensitivity;
  std::vector<PromisedSnippet> snippets;  ///< snippets for the recommended setting
  std::vector<std::string> notes;
  core::Promise promise;  ///< prediction for NCCL's collectives under the recommended setting
  std::string table;      ///< the file of the table for NCCL's tuner, if one was written

  /// Returns false if no setting that was tried is valid.
  [[nodiscard]] bool is_advice() const { return best || stopped > 0 || not_comparable > 0; }
  /// Returns the best setting, or the current one if no change is advised.
  [[nodiscard]] const Told& recommended() const { return advice.change ? *best : now; }
};

std::string tune_text(const TuneResult& result);
std::string tune_json(const TuneResult& result);

}  // namespace tutti::tools
