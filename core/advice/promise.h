#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/scenario/scenario.h"
#include "core/schedule/contract.h"
#include "core/text/report.h"

namespace tutti::core {

/// The predicted ("promised") time of one NCCL collective, with which a later measurement is
/// compared.
struct PromisedCollective {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::int64_t bytes = 0;  ///< size in bytes, as nccl-tests counts it
  std::int64_t ranks = 0;
  std::int64_t nodes = 0;
  double us = 0;
  double low_us = 0, high_us = 0;  ///< lower and upper end of the error band
  std::string choice;  ///< algorithm and protocol, as in NCCL Inspector files and tuner tables:
                       ///< "ring/ll128"
  std::int64_t channels = 0;
  bool planned = false;  ///< true if the collective is in the scenario's plan; false if it is only
                         ///< in the series of sizes (see promise_of())
};

/// The predictions of `tutti tune` for the recommended setting.
struct PredictedSetting {
  std::string scenario;
  std::string nccl;  ///< release of NCCL
  std::vector<PromisedCollective> collectives;
};

/// Returns the predicted times of the NCCL collectives in the scenario's plan. For each
/// communicator, also returns the predicted times of NCCL's five kinds of collective with 8 bytes,
/// 16 bytes, …, 8 GiB. The result is empty if NCCL's times are not known.
PredictedSetting promise_of(const Scenario& scenario);

Report report_of(const PredictedSetting& promise);
/// Reads predictions from JSON. The text is either the output of `tutti tune --format json`, which
/// has the predictions in its field "promise", or only the value of this field.
/// ERRORS: the text is not JSON, or has no predictions; a field is missing or invalid (with its
/// location).
Expected<PredictedSetting> read_promise(std::string_view text, const std::string& file);

/// A measured collective. `us` is the median time over all executions of the collective.
struct MeasuredPoint {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::int64_t bytes = 0;
  std::int64_t ranks = 0;
  std::int64_t nodes = 0;  ///< 0: unknown
  double us = 0;
  std::string choice = {};  ///< algorithm and protocol as in PromisedCollective, followed by the
                            ///< number of channels; empty if unknown
};

/// The result of comparing one measurement with the promised time.
struct Grade {
  enum class Verdict { kInside, kFaster, kSlower, kNotPromised };
  /// If no promised collective matches a measurement: the property (kind, ranks, nodes or size) in
  /// which the most similar promised collective differs from the measurement.
  enum class Missing { kNothing, kCollective, kRanks, kNodes, kSize };
  MeasuredPoint measured;
  /// The promised time for the measured size; nullopt if the verdict is kNotPromised.
  std::optional<PromisedCollective> promised;
  /// True if the promised time was interpolated between two sizes of the series.
  bool between = false;
  Verdict verdict = Verdict::kNotPromised;
  Missing missing = Missing::kNothing;
};
std::string_view to_string(Grade::Verdict verdict);
/// Returns what the promise contains in place of the measured property. For example, the result is
/// "other sizes" if the measured size is not in the promise. The result is empty for kNothing.
std::string_view to_string(Grade::Missing missing);

/// Compares each measurement with the promised time of the collective that has the same kind and
/// the same numbers of bytes, ranks and nodes. If a size is predicted both for the scenario's plan
/// and in the series 8 bytes, 16 bytes, …, the prediction for the plan is used. For a size between
/// two sizes of the series, the time is interpolated linearly in the logarithms of bytes and time.
///
/// If a measurement does not state its number of nodes, and the promise has several numbers of
/// nodes for the measurement's number of ranks, the verdict is kNotPromised.
std::vector<Grade> grade(const PredictedSetting& promise,
                         const std::vector<MeasuredPoint>& measured);

}  // namespace tutti::core
