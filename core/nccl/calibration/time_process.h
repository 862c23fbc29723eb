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

/// A predicted time, described by all that affects its error.
struct TimedPoint {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::optional<Algorithm> algorithm;  ///< empty for sends and receives
  std::optional<Protocol> protocol;    ///< empty for sends and receives
  std::int64_t bytes = 1;
  int ranks = 2;
  int nodes = 1;                     ///< nodes as NCCL counts them
  std::uint64_t settings = 0;        ///< settings_digest() of the variables that were set
  std::array<double, 4> parts_us{};  ///< launch, hops, fill, transfer; their sum is the prediction

  [[nodiscard]] double us() const { return parts_us[0] + parts_us[1] + parts_us[2] + parts_us[3]; }
};

/// The measured time at a predicted point.
struct MeasuredPoint {
  TimedPoint at;
  double measured_us = 1;
  int table = 0;  ///< number of the nccl-tests run, equal for all of its rows
};

/// The information in a system's measurements about another of its times.
struct TimeCorrection {
  double log_factor = 0;  ///< logarithm of the factor to multiply the prediction by
  double sd = 0;          ///< standard deviation of log(measured / corrected)
  double sd_before = 0;  ///< standard deviation of log(measured / predicted) before any measurement
};

/// A Gaussian process on log(measured / predicted) of one system, given some of its times
/// (time_process.cpp).
class TimeProcess {
 public:
  static constexpr std::array<const char*, 4> kParts = {"launch", "hops", "fill", "transfer"};
  /// More rows add little information, and the cost grows with their third power.
  static constexpr std::size_t kMaxRows = 60;

  TimeProcess(const std::vector<MeasuredPoint>& rows, const Spread& spread,
              std::size_t most_rows = kMaxRows);

  /// Cost: proportional to the square of the number of rows.
  [[nodiscard]] TimeCorrection at(const TimedPoint& point) const;
  /// The correction factor of a part for the system's rings: launch, hops, fill or transfer (0 to
  /// 3), inside a node or between nodes. `sd` is the standard deviation of the logarithm.
  [[nodiscard]] TimeCorrection part(std::size_t part, bool several_nodes) const;
  [[nodiscard]] const std::vector<MeasuredPoint>& rows() const { return rows_; }

 private:
  [[nodiscard]] double covariance(const TimedPoint& x, const TimedPoint& y, bool same_table) const;
  [[nodiscard]] double noise(const TimedPoint& x) const;
  void factorise();
  /// L y = b, in place.
  void forward(std::vector<double>& b) const;
  /// L' y = b, in place.
  void backward(std::vector<double>& b) const;

  Spread spread_;
  std::vector<MeasuredPoint> rows_;
  /// The Cholesky factor, stored by rows, of the covariance of the rows plus their noise.
  std::vector<double> lower_;
  std::vector<double> weights_;  ///< Student weights of the rows
  std::vector<double> alpha_;
};

/// Selects at most `most` rows of a system: rows of a table with the same size become one row,
/// their median; then rows are selected evenly by the logarithm of the size, equally many per
/// table.
std::vector<MeasuredPoint> thinned(std::vector<MeasuredPoint> rows, std::size_t most);

TimedPoint timed_point(CollectiveKind kind, std::int64_t bytes, int ranks, int nodes,
                       const std::optional<Choice>& choice, const Prediction& time);

/// Returns a digest that distinguishes environments, including those of libraries below NCCL
/// (FI_CXI_RX_MATCH_MODE). It does not depend on the order of the variables. 0: none is set.
std::uint64_t settings_digest(std::vector<std::pair<std::string, std::string>> variables);

}  // namespace tutti::core::nccl
