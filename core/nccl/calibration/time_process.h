#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/nccl/calibration/spread.h"
#include "core/nccl/names.h"
#include "core/nccl/time/prediction.h"
#include "core/schedule/contract.h"

namespace tutti::core::nccl {

/// A predicted time, with all properties on which its error depends.
struct TimedPoint {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::optional<Algorithm> algorithm;  ///< nullopt for sends and receives
  std::optional<Protocol> protocol;    ///< nullopt for sends and receives
  std::int64_t bytes = 1;
  int ranks = 2;
  int nodes = 1;               ///< number of nodes as NCCL counts them
  std::uint64_t settings = 0;  ///< settings_digest() of the environment variables that are set
  /// The four parts of the predicted time: launch, hops, fill and transfer.
  std::array<double, 4> parts_us{};

  [[nodiscard]] double us() const { return parts_us[0] + parts_us[1] + parts_us[2] + parts_us[3]; }
};

/// The measured time at a predicted point.
struct MeasuredPoint {
  TimedPoint at;
  double measured_us = 1;
  int table = 0;  ///< index of the nccl-tests run; all rows of a run have the same index
};

/// The correction of a predicted time, derived from times that were measured on the same system.
struct TimeCorrection {
  double log_factor = 0;  ///< logarithm of the factor by which the prediction is multiplied
  double sd = 0;          ///< standard deviation of log(measured / corrected)
  double sd_before = 0;   ///< standard deviation of log(measured / predicted) before the correction
};

/// Gaussian-process regression of log(measured / predicted) on one system, from some measured times
/// (time_process.cpp).
class TimeProcess {
 public:
  static constexpr std::array<const char*, 4> kParts = {"launch", "hops", "fill", "transfer"};
  /// The maximum number of measurements (rows) that are used. More rows add little information, and
  /// the cost grows with the third power of their number.
  static constexpr std::size_t kMaxRows = 60;

  TimeProcess(const std::vector<MeasuredPoint>& rows, const Spread& spread,
              std::size_t max_rows = kMaxRows);

  /// Returns the correction of a predicted time. Cost: proportional to the square of the number of
  /// rows.
  [[nodiscard]] TimeCorrection at(const TimedPoint& point) const;
  /// Returns the correction of one part of a ring's predicted time, inside a node or between nodes.
  /// `part` is 0 to 3: launch, hops, fill or transfer.
  [[nodiscard]] TimeCorrection part(std::size_t part, bool several_nodes) const;
  [[nodiscard]] const std::vector<MeasuredPoint>& rows() const { return rows_; }

 private:
  [[nodiscard]] double covariance(const TimedPoint& x, const TimedPoint& y, bool same_table) const;
  [[nodiscard]] double noise(const TimedPoint& x) const;
  void factorise();
  /// Solves L y = b in place, where L is the Cholesky factor.
  void forward(std::vector<double>& b) const;
  /// Solves L' y = b in place, where L' is the transpose of L.
  void backward(std::vector<double>& b) const;

  Spread spread_;
  std::vector<MeasuredPoint> rows_;
  /// The Cholesky factor of the covariance matrix of all measurements (`rows_`), including their
  /// noise, stored row by row.
  std::vector<double> lower_;
  std::vector<double> weights_;  ///< weight of each row; rows that deviate strongly have a low
                                 ///< weight (Student's t-distribution)
  std::vector<double> alpha_;
};

/// Selects at most `most` rows of a system. First, rows of the same table and size are replaced by
/// their median. Then the same number of rows is selected from each table, spread evenly over the
/// table's sizes. If a table has fewer rows than this number, more rows are selected from other
/// tables.
std::vector<MeasuredPoint> thinned(std::vector<MeasuredPoint> rows, std::size_t most);

TimedPoint timed_point(CollectiveKind kind, std::int64_t bytes, int ranks, int nodes,
                       const std::optional<Choice>& choice, const Prediction& time);

/// Returns a digest of environment variables, including variables of libraries that NCCL uses
/// (FI_CXI_RX_MATCH_MODE). The digest does not depend on the order of the variables. The digest is
/// 0 if no variable is set.
std::uint64_t settings_digest(std::vector<std::pair<std::string, std::string>> variables);

}  // namespace tutti::core::nccl
