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

struct TuneResult {
  Told now;
  std::optional<Told> best;  ///< nothing: nothing that was tried can be, or comes near to what there is
  core::Advice advice;
  std::vector<std::string> fields;
  std::vector<std::string> values;  ///< of the best
  std::int64_t tried = 0, stopped = 0, refused = 0, left_out = 0, in_all = 0, beside = 0;
  double promised = 0;
  std::string refusal;  ///< why the first setting that cannot be cannot
  std::uint64_t seed = 0;
  std::vector<AxisCurve> curves;
  std::vector<Sensitivity> sensitivity;
  std::vector<core::Snippet> snippets;
  std::vector<std::string> notes;
};

std::string tune_text(const TuneResult& result);
std::string tune_json(const TuneResult& result);

}  // namespace tutti::tools
