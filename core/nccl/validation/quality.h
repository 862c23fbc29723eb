#pragma once

#include <cstddef>
#include <vector>

#include "core/nccl/time/error_bands.h"

namespace tutti::core::nccl {

/// How far predictions lie from measurements. Errors are |predicted - measured| / measured, as fractions.
struct Quality {
  std::size_t rows = 0;
  double median = 0;
  double mean = 0;
  double p90 = 0;
  double bias = 0;  ///< mean of (predicted - measured) / measured
};

/// How well the bands around predictions hold what was measured. The one means little without the other: a band that is
/// wide enough holds everything.
struct BandQuality {
  double coverage = 0;  ///< the share of measurements that lie in the bands of their predictions, ends included
  double width = 0;     ///< the median of the upper over the lower ends of the bands; 1 for bands that are one time
};

/// Collects errors with their weights. Quantiles are those of the weights: of the smallest errors that together weigh so much, the largest.
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
  double inside_ = 0;  ///< the weight of measurements that lie in their bands
};

}  // namespace tutti::core::nccl
