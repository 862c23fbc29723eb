#pragma once

#include <cstddef>
#include <vector>

#include "core/nccl/time/parameters.h"
#include "tools/nccl_fit/rows.h"

namespace tutti::nccl_fit {

/// Finds the parameters that minimise the mean of |log(predicted / measured)| by coordinate descent
/// with decreasing steps. A penalty pulls each parameter towards its start value times the mean
/// change of the other parameters of the same kind (of other GPU generations, or of other
/// networks). A machine for which few systems have measurements is therefore assumed to behave like
/// other machines.
class Fit {
 public:
  Fit(std::vector<Row> rows, const core::nccl::Parameters& start);

  core::nccl::Parameters run();
  /// Returns the cost that run() minimises, for these parameters: the mean of |log(predicted /
  /// measured)| plus the penalties.
  double cost_of(const core::nccl::Parameters& figures);
  /// Returns the number of rows whose prediction depends on parameter `k`.
  [[nodiscard]] std::size_t rows_of(std::size_t k) const { return of_[k].size(); }

 private:
  [[nodiscard]] std::vector<double> values() const;
  void set(const std::vector<double>& all);
  /// The first function returns the total cost that is minimised. The second returns the part of
  /// the cost that depends on parameter `k`.
  [[nodiscard]] double cost() const;
  [[nodiscard]] double cost(std::size_t k) const;
  [[nodiscard]] double pull(std::size_t k) const;
  /// Returns the weight of the penalty of a parameter on which the rows depend.
  [[nodiscard]] double penalty_of(const core::nccl::Parameter& figure,
                                  const std::vector<std::size_t>& rows) const;
  /// Returns the logarithm of the change of a parameter since the start.
  [[nodiscard]] double moved(std::size_t k) const;
  /// Returns the mean of moved() over all other parameters of the same kind on which rows depend,
  /// and over a virtual parameter that has not moved. A single other parameter therefore counts
  /// half.
  [[nodiscard]] double expected(std::size_t k) const;
  bool improve(std::size_t k, double step);
  /// Repeats the last round's move away from the parameters `before`, with twice the length each
  /// time, as long as the cost decreases. Parameters that compensate each other, such as the times
  /// of a launch and of the hops after it, thus move together.
  void go_on(const std::vector<double>& before);

  std::vector<Row> rows_;
  core::nccl::Parameters start_;
  core::nccl::Parameters p_;
  std::vector<std::vector<std::size_t>> of_;  ///< by parameter: the rows that depend on it
  /// By parameter: the other parameters of the same kind.
  std::vector<std::vector<std::size_t>> identical_;
  std::vector<double> penalties_;  ///< by parameter: weight of its penalty
  double total_ = 0;
};

}  // namespace tutti::nccl_fit
