#pragma once

#include <cstddef>
#include <vector>

#include "core/nccl/time/error_bands.h"

namespace tutti::core::nccl {

/// The errors of predictions. Errors are |predicted - measured| / measured, as fractions.
struct Quality {
  std::size_t rows = 0;
  double median = 0;
  double mean = 0;
  double p90 = 0;
  double bias = 0;  ///< mean of (predicted - measured) / measured
};

/// The quality of error bands around predictions. Coverage has little meaning without width: a wide
/// enough band covers everything. The interval score combines both, and has its optimum at the true
/// quantiles.
struct BandQuality {
  /// The share of measurements that lie in the bands of their predictions, ends included.
  double coverage = 0;
  double width = 0;  ///< the median ratio of the upper to the lower ends of the bands; 1 for bands
                     ///< that are a single time
  /// The mean over all measurements of log(high / low), plus ten times the logarithmic distance of
  /// a measurement outside the band.
  double score = 0;
};

/// Returns the interval score of a band for one measurement. Lower is better, and the true
/// quantiles have the lowest mean. SOURCE: Winkler 1972; Gneiting and Raftery, "Strictly proper
/// scoring rules", 2007, equation 43; for logarithms of times, and 80 % bands. REQUIRES: times
/// above 0.
double interval_score(double measured_us, double low_us, double high_us);

/// Collects errors with their weights. Quantiles are weighted: a quantile is the largest of the
/// smallest errors whose weights add up to that share.
class Errors {
 public:
  /// `signed_error`: (predicted - measured) / measured. REQUIRES: weight above 0.
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

/// Collects measurements and the bands of their predictions, with their weights.
class Bands {
 public:
  /// REQUIRES: weight above 0.
  void add(double measured_us, double predicted_us, const ErrorBand& band, double weight);
  /// All values are 0 if nothing was added.
  [[nodiscard]] BandQuality quality() const;

 private:
  struct One {
    double width;
    double weight;
  };
  std::vector<One> all_;
  double score_ = 0;   ///< weighted sum of all interval scores
  double inside_ = 0;  ///< total weight of measurements that lie in their bands
};

}  // namespace tutti::core::nccl
