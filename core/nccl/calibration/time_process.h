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

/// A predicted time, with all facts on which its error depends.
struct TimedPoint {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::optional<Algorithm> algorithm;  ///< nullopt for sends and receives
  std::optional<Protocol> protocol;    ///< nullopt for sends and receives
  std::int64_t bytes = 1;
  int ranks = 2;
  int nodes = 1;               ///< number of nodes as NCCL counts them
  std::uint64_t settings = 0;  ///< settings_digest() of the environment variables that are set
  /// The predicted launch, hops, fill and transfer; their sum is the predicted time.
  std::array<double, 4> parts_us{};

  [[nodiscard]] double us() const { return parts_us[0] + parts_us[1] + parts_us[2] + parts_us[3]; }
};

/// The measured time at a predicted point.
struct MeasuredPoint {
  TimedPoint at;
  double measured_us = 1;
  int table = 0;  ///< number of the nccl-tests run; all rows of a run have the same number
};

/// The correction of one predicted time of a system that follows from measured times of the system.
struct TimeCorrection {
  double log_factor = 0;  ///< logarithm of the factor by which the prediction is multiplied
  double sd = 0;          ///< standard deviation of log(measured / corrected)
  double sd_before = 0;   ///< standard deviation of log(measured / predicted) without measurements
};

/// A Gaussian process for log(measured / predicted) of one system, given some measured times
/// (time_process.cpp).
class TimeProcess {
 public:
  static constexpr std::array<const char*, 4> kParts = {"launch", "hops", "fill", "transfer"};
  /// The maximum number of rows. More rows add little information, and the cost grows with their
  /// third power.
  static constexpr std::size_t kMaxRows = 60;

  TimeProcess(const std::vector<MeasuredPoint>& rows, const Spread& spread,
              std::size_t max_rows = kMaxRows);

  /// Returns the correction of a predicted time. Cost: proportional to the square of the number of
  /// rows.
  [[nodiscard]] TimeCorrection at(const TimedPoint& point) const;
  /// Returns the correction of one part of the time of rings: launch, hops, fill or transfer (0 to
  /// 3), inside a node or between nodes.
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
  /// The Cholesky factor of the rows' covariance matrix plus their noise, stored row by row.
  std::vector<double> lower_;
  std::vector<double> weights_;  ///< weights of the rows, from Student's distribution
  std::vector<double> alpha_;
};

/// Selects at most `most` rows of a system. First, rows of a table with the same size are replaced
/// by their median. Then the same number of rows is selected from each table, spread evenly over
/// its sizes; a table with fewer rows leaves the rest of its number to others.
std::vector<MeasuredPoint> thinned(std::vector<MeasuredPoint> rows, std::size_t most);

TimedPoint timed_point(CollectiveKind kind, std::int64_t bytes, int ranks, int nodes,
                       const std::optional<Choice>& choice, const Prediction& time);

/// Returns a digest of environment variables, including those of libraries below NCCL
/// (FI_CXI_RX_MATCH_MODE). The digest does not depend on the order of the variables. 0: no variable
/// is set.
std::uint64_t settings_digest(std::vector<std::pair<std::string, std::string>> variables);

}  // namespace tutti::core::nccl
