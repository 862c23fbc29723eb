#pragma once

#include <cstddef>
#include <vector>

#include "core/nccl/time/parameters.h"
#include "tools/nccl_fit/rows.h"

namespace tutti::nccl_fit {

/// Finds the parameters that minimise the mean of |log(predicted / measured)|, by coordinate
/// descent with decreasing steps. A penalty pulls each parameter towards its start value times the
/// mean change of the other parameters of the same kind (of other GPU generations, or of other
/// networks). A machine for which few systems have measurements is therefore assumed to behave like
/// other machines.
class Fit {
 public:
  Fit(std::vector<Row> rows, const core::nccl::Parameters& start);

  core::nccl::Parameters run();
  /// For these parameters, returns the cost that run() minimises: the mean of |log(predicted /
  /// measured)| plus the penalties.
  double cost_of(const core::nccl::Parameters& figures);
  /// Returns the number of rows whose prediction depends on parameter `k`.
  [[nodiscard]] std::size_t rows_of(std::size_t k) const { return of_[k].size(); }

 private:
  [[nodiscard]] std::vector<double> values() const;
  void set(const std::vector<double>& all);
  /// cost() returns the total cost that is minimised. The function cost(k) returns the part of the
  /// cost that depends on parameter `k`.
  [[nodiscard]] double cost() const;
  [[nodiscard]] double cost(std::size_t k) const;
  [[nodiscard]] double pull(std::size_t k) const;
  /// Returns the weight of a parameter's penalty. `rows` are the rows whose predictions depend on
  /// the parameter.
  [[nodiscard]] double penalty_of(const core::nccl::Parameter& figure,
                                  const std::vector<std::size_t>& rows) const;
  /// Returns the logarithm of the ratio between a parameter and its start value.
  [[nodiscard]] double moved(std::size_t k) const;
  /// Returns the change towards which the penalty pulls parameter `k`: the mean of moved() over all
  /// other parameters of the same kind on which rows depend. A change of 0 is added to this mean as
  /// one more value, so that a single other parameter has a weight of only one half.
  [[nodiscard]] double expected(std::size_t k) const;
  bool improve(std::size_t k, double step);
  /// Changes all parameters further in the direction of their last change from `before`, by twice
  /// the length each time, as long as the cost decreases. Parameters that compensate each other,
  /// such as the times of a launch and of the subsequent hops, thus change together.
  void go_on(const std::vector<double>& before);

  std::vector<Row> rows_;
  core::nccl::Parameters start_;
  core::nccl::Parameters p_;
  std::vector<std::vector<std::size_t>> of_;  ///< by parameter: the rows that depend on it
  /// Indexed by parameter: the other parameters of the same kind.
  std::vector<std::vector<std::size_t>> identical_;
  std::vector<double> penalties_;  ///< by parameter: the weight of its penalty
  double total_ = 0;
};

}  // namespace tutti::nccl_fit
