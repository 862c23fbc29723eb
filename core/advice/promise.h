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

/// The predicted time of an NCCL collective, which a measurement can be compared with.
struct PromisedCollective {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::int64_t bytes = 0;  ///< size as nccl-tests counts it
  std::int64_t ranks = 0;
  std::int64_t nodes = 0;
  double us = 0;
  double low_us = 0, high_us = 0;  ///< ends of the error band
  std::string choice;              ///< "ring/ll128", as Inspectors and tables write it
  std::int64_t channels = 0;
  bool planned = false;  ///< true: a size of the scenario itself; false: one of a series of sizes
};

/// The predictions of `tutti tune` for the recommended setting.
struct Promise {
  std::string scenario;
  std::string nccl;  ///< release of NCCL
  std::vector<PromisedCollective> collectives;
};

/// The scenario's own collectives, and for each of its communicators all five collectives at every
/// power of two from 8 bytes to 8 GiB. Empty if NCCL's times are not known.
Promise promise_of(const Scenario& scenario);

Report report_of(const Promise& promise);
/// Reads it back: a report of `tutti tune --format json`, whose field "promise" it is, or that
/// field alone. ERRORS: no JSON; no promise in it; what is missing or wrong, at its place.
Expected<Promise> read_promise(std::string_view text, const std::string& file);

/// A measurement: the median over all times that a collective happened.
struct MeasuredPoint {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::int64_t bytes = 0;
  std::int64_t ranks = 0;
  std::int64_t nodes = 0;  ///< 0: unknown
  double us = 0;
  std::string choice = {};  ///< as in PromisedCollective, with channels; empty: unknown
};

/// A measurement held against the promise.
struct Grade {
  enum class Verdict { kInside, kFaster, kSlower, kNotPromised };
  /// The first property in which the measurement differs from everything that was promised.
  enum class Missing { kNothing, kCollective, kRanks, kNodes, kSize };
  MeasuredPoint measured;
  /// Interpolated if the size is between two promised sizes.
  std::optional<PromisedCollective> promised;
  bool between = false;
  Verdict verdict = Verdict::kNotPromised;
  Missing missing = Missing::kNothing;
};
std::string_view to_string(Grade::Verdict verdict);
/// Returns what the promise lacks: "other sizes". Empty for kNothing.
std::string_view to_string(Grade::Missing missing);

/// Holds each measurement against the promise of the same collective, bytes, ranks and nodes. If
/// the nodes of a measurement are unknown, and the promise has several for its ranks, nothing was
/// promised. One of the scenario's own sizes has priority over one of a series. Between two sizes
/// of a series, times grow as a power of the bytes.
std::vector<Grade> grade(const Promise& promise, const std::vector<MeasuredPoint>& measured);

}  // namespace tutti::core
