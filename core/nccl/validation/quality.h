#pragma once

#include <cstddef>
#include <vector>

namespace tutti::core::nccl {

/// How far predictions lie from measurements. Errors are |predicted - measured| / measured, as fractions.
struct Quality {
  std::size_t rows = 0;
  double median = 0;
  double mean = 0;
  double p90 = 0;
  double bias = 0;  ///< mean of (predicted - measured) / measured
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

}  // namespace tutti::core::nccl
