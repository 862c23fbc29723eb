#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/advice/recommend.h"
#include "core/advice/snippets.h"
#include "core/explore/outcome.h"
#include "core/explore/space.h"
#include "core/timeline/summary.h"

namespace tutti::tools {

/// A scenario that was simulated with all that is to be told of it.
struct Told {
  core::Scenario scenario;
  core::Summary summary;
  core::Outcome outcome;
};

/// What the cost is around the best setting along one axis, all others as they are there.
struct AxisCurve {
  std::string field;
  std::vector<std::pair<std::string, core::Outcome>> values;  ///< in the axis' order
  std::size_t best = 0;                                       ///< which of them the best setting has
};

/// The two settings where the cluster is not what its figures say.
struct Sensitivity {
  std::string what;  ///< "half the bandwidth of all links"
  core::Time now, best;
};

/// A snippet, and what the step takes by its framework's own packing.
struct PromisedSnippet {
  core::Snippet snippet;
  core::Outcome outcome;
  std::string why_not;  ///< why it is not recommended; empty if it is
};

/// A setting that seems to be faster than what is recommended, by times that say nothing against
/// those.
struct Rival {
  std::vector<std::string> values;
  core::Outcome outcome;
  std::string why;  ///< it cannot be compared
};

/// A setting that is faster than what is recommended, but would be slower than what there is on a
/// cluster with other links.
struct Lost {
  std::vector<std::string> values;
  core::Outcome outcome;
  Sensitivity on;
};

struct TuneResult {
  Told now;
  /// Of what can be compared with `now`; nothing: none of that can be, or comes near to what there
  /// is.
  std::optional<Told> best;
  std::optional<Rival> rival;
  std::vector<Lost> lost;
  core::Advice advice;
  std::vector<std::string> fields;
  std::vector<std::string> values;  ///< of the best
  std::int64_t tried = 0, stopped = 0, refused = 0, left_out = 0, in_all = 0, beside = 0;
  std::int64_t not_comparable = 0;  ///< points that were simulated
  double promised = 0;
  std::string refusal;  ///< why the first setting that cannot be cannot
  std::uint64_t seed = 0;
  std::vector<AxisCurve> curves;
  std::vector<Sensitivity> sensitivity;
  std::vector<PromisedSnippet> snippets;  ///< of what is recommended
  std::vector<std::string> notes;

  /// False if nothing that was tried can be.
  [[nodiscard]] bool is_advice() const { return best || stopped > 0 || not_comparable > 0; }
  /// The best, or what there is if nothing is to be changed.
  [[nodiscard]] const Told& recommended() const { return advice.change ? *best : now; }
};

std::string tune_text(const TuneResult& result);
std::string tune_json(const TuneResult& result);

}  // namespace tutti::tools
