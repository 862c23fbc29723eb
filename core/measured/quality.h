#pragma once

#include <cstddef>
#include <vector>

#include "core/nccl/time/error_bands.h"

namespace tutti::core::nccl {

/// Statistics of the errors of predictions. An error is |predicted - measured| / measured.
struct Quality {
  std::size_t rows = 0;
  double median = 0;
  double mean = 0;
  double p90 = 0;
  double bias = 0;  ///< mean of (predicted - measured) / measured
};

/// Statistics of the error bands of predictions. Coverage alone says little, because a very wide
/// band covers everything. The interval score takes both coverage and width into account: its
/// expected value is lowest (best) if the ends of the bands are the true quantiles of the measured
/// times.
struct BandQuality {
  /// The share of measurements that are inside the bands of their predictions, including the ends.
  double coverage = 0;
  /// The median ratio of the upper to the lower end of a band; 1 if both ends are equal.
  double width = 0;
  /// The mean interval_score() over all measurements. The score of a measurement inside its band is
  /// log(high / low). For a measurement outside its band, ten times the logarithmic distance
  /// between measurement and band is added.
  double score = 0;
};

/// Returns the interval score of an 80 % band for one measurement, in logarithms of times. Lower
/// scores are better: the band between the true 10 % and 90 % quantiles has the lowest mean score.
/// SOURCE: Winkler 1972; Gneiting and Raftery, "Strictly proper scoring rules", 2007, equation 43.
/// REQUIRES: times above 0.
double interval_score(double measured_us, double low_us, double high_us);

/// Collects errors with weights, and computes weighted quantiles. The quantile q is the smallest
/// error at which the cumulative weight reaches the share q of the total weight.
class Errors {
 public:
  /// Adds an error. `signed_error` is (predicted - measured) / measured; see Quality. REQUIRES:
  /// weight above 0.
  void add(double signed_error, double weight) { all_.push_back({signed_error, weight}); }
  [[nodiscard]] bool empty() const { return all_.empty(); }
  [[nodiscard]] Quality quality() const;

 private:
  struct One {
    double error;
    double weight;
  };
  std::vector<One> all_;
};

/// Collects measurements and the bands of their predictions, with weights.
class Bands {
 public:
  /// REQUIRES: weight above 0.
  void add(double measured_us, double predicted_us, const ErrorBand& band, double weight);
  /// Returns the statistics; all values are 0 if nothing was added.
  [[nodiscard]] BandQuality quality() const;

 private:
  struct One {
    double width;
    double weight;
  };
  std::vector<One> all_;
  double score_ = 0;   ///< weighted sum of all interval scores
  double inside_ = 0;  ///< total weight of the measurements inside their bands
};

}  // namespace tutti::core::nccl
