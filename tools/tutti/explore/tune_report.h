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

/// A scenario, with the summary and the outcome of its simulation.
struct SimulatedScenario {
  core::Scenario scenario;
  core::Summary summary;
  core::Outcome outcome;
};

/// The outcomes of settings that differ from the best setting in only one axis.
struct AxisCurve {
  std::string field;
  /// The values on the axis and their outcomes, in the order of the axis.
  std::vector<std::pair<std::string, core::Outcome>> values;
  std::size_t best = 0;  ///< the index in `values` of the best setting's value
};

/// The step times of the current and the best setting on a cluster with changed parameters.
struct Sensitivity {
  std::string what;  ///< the change, such as "half the bandwidth of all links"
  core::Time now, best;
};

/// A snippet for the user's training script, and the predicted outcome of a run with this snippet.
/// The prediction uses the packing that the snippet's framework would produce.
struct PromisedSnippet {
  core::Snippet snippet;
  core::Outcome outcome;
  std::string why_not;  ///< the reason why the setting is not recommended; empty if the setting is
                        ///< recommended
};

/// A setting whose simulated time is lower than the time of the recommended setting, but not
/// comparable with it.
struct IncomparableSetting {
  std::vector<std::string> values;
  core::Outcome outcome;
  std::string why;  ///< the reason why the setting is not comparable
};

/// A setting that is faster than the recommended setting. The setting is not recommended, because
/// it is slower than the current setting on a cluster with other links.
struct Lost {
  std::vector<std::string> values;
  core::Outcome outcome;
  Sensitivity on;
};

/// The lowest step time that was found with an algorithm.
struct AlgorithmTime {
  std::string algorithm;
  core::Time step;
  /// true: every simulation was stopped early because it was too slow, so `step` is a lower bound
  bool stopped = false;
};

struct TuneResult {
  SimulatedScenario now;
  /// The best setting that is comparable with `now`; nullopt if no setting is comparable, or if
  /// every comparable setting is much slower than the current setting (sim::kMaxSlowdown).
  std::optional<SimulatedScenario> best;
  std::optional<IncomparableSetting> incomparable;
  std::vector<Lost> lost;
  core::Advice advice;
  std::vector<std::string> fields;
  std::vector<std::string> values;  ///< the values of the best setting
  std::string best_text;            ///< the text of the scenario with the best setting
  /// If every setting was simulated with several seeds: the step times of the current and of the
  /// best setting, in the order of the seeds. `now` and `best` are then the runs with the seed of
  /// the median step time.
  std::vector<core::Time> now_by_seed, best_by_seed;
  std::int64_t tried = 0, stopped = 0, refused = 0, left_out = 0, in_all = 0, beside = 0;
  std::int64_t not_comparable = 0;  ///< the number of simulated points that are not comparable
  double max_expected_improvement = 0;
  std::string refusal;  ///< the reason why the first invalid setting is invalid
  std::uint64_t seed = 0;
  std::vector<AxisCurve> curves;
  /// The tried algorithms, fastest first, if the scenario's algorithm comes from a file.
  std::vector<AlgorithmTime> algorithms;
  std::vector<Sensitivity> sensitivity;
  std::vector<PromisedSnippet> snippets;  ///< the snippets for the recommended setting
  std::vector<std::string> notes;
  /// The predicted times of NCCL's collectives with the recommended setting.
  core::PredictedSetting promise;
  std::string table;  ///< the file with the table for NCCL's tuner, if one was written

  /// Returns false if no tried setting is valid.
  [[nodiscard]] bool is_advice() const { return best || stopped > 0 || not_comparable > 0; }
  /// Returns the best setting, or the current setting if no change is recommended.
  [[nodiscard]] const SimulatedScenario& recommended() const { return advice.change ? *best : now; }
};

std::string tune_text(const TuneResult& result);
std::string tune_json(const TuneResult& result);

}  // namespace tutti::tools
