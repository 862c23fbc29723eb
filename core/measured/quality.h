#pragma once

#include <cstddef>
#include <vector>

#include "core/nccl/time/error_bands.h"

namespace tutti::core::nccl {

/// How far predictions lie from measurements. Errors are |predicted - measured| / measured, as
/// fractions.
struct Quality {
  std::size_t rows = 0;
  double median = 0;
  double mean = 0;
  double p90 = 0;
  double bias = 0;  ///< mean of (predicted - measured) / measured
};

/// How well the bands around predictions hold what was measured. Coverage means little without
/// width: a band that is wide enough holds everything. The interval score weighs both, and is best
/// for the true quantiles.
struct BandQuality {
  double coverage =
      0;  ///< the share of measurements that lie in the bands of their predictions, ends included
  double width = 0;  ///< the median of the upper over the lower ends of the bands; 1 for bands that
                     ///< are one time
  /// The mean over all measurements of log(high / low), and beyond an end ten times the logarithm
  /// of by how much.
  double score = 0;
};

/// What a band is charged for a measurement. The less, the better; what a band that is right pays
/// on the average is the least. SOURCE: Winkler 1972; Gneiting and Raftery, "Strictly proper
/// scoring rules", 2007, equation 43; of logarithms of times, and for bands that are meant to hold
/// eight of ten. REQUIRES: times above 0.
double interval_score(double measured_us, double low_us, double high_us);

/// Collects errors with their weights. Quantiles are those of the weights: of the smallest errors
/// that together weigh so much, the largest.
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
  /// Zeros where nothing was added.
  [[nodiscard]] BandQuality quality() const;

 private:
  struct One {
    double width;
    double weight;
  };
  std::vector<One> all_;
  double score_ = 0;   ///< of all, by weight
  double inside_ = 0;  ///< the weight of measurements that lie in their bands
};

}  // namespace tutti::core::nccl
