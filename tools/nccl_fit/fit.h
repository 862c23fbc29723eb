#pragma once

#include <cstddef>
#include <vector>

#include "core/nccl/time/parameters.h"
#include "tools/nccl_fit/rows.h"

namespace tutti::nccl_fit {

/// Finds the figures with the least mean of |log(predicted / measured)|, one figure after another
/// in ever smaller steps. Each is pulled towards where it started, moved by as much as figures of
/// its kind (of other generations, of other networks) moved: machines that few have measured are
/// taken to be like the others, the more so the fewer have.
class Fit {
 public:
  Fit(std::vector<Row> rows, const core::nccl::Parameters& start);

  core::nccl::Parameters run();
  /// Returns the cost that run() minimises: the mean of |log(predicted / measured)|, plus the
  /// pulls.
  double cost_of(const core::nccl::Parameters& figures);
  /// Returns the number of rows whose prediction depends on parameter `k`.
  [[nodiscard]] std::size_t rows_of(std::size_t k) const { return of_[k].size(); }

 private:
  [[nodiscard]] std::vector<double> values() const;
  void set(const std::vector<double>& all);
  /// Return the cost that is minimised: the total, and the part that depends on parameter `k`.
  [[nodiscard]] double cost() const;
  [[nodiscard]] double cost(std::size_t k) const;
  [[nodiscard]] double pull(std::size_t k) const;
  /// Returns the strength of the pull on a parameter that these rows depend on.
  [[nodiscard]] double pull_on(const core::nccl::Parameter& figure,
                               const std::vector<std::size_t>& rows) const;
  /// Returns the logarithm of the change of a parameter since the start.
  [[nodiscard]] double moved(std::size_t k) const;
  /// Returns the mean of moved() over the parameters of the same kind that rows depend on, plus one
  /// that did not move, so that a single other parameter counts half.
  [[nodiscard]] double expected(std::size_t k) const;
  bool improve(std::size_t k, double step);
  /// Figures that make up for each other (a launch, the hops behind it) move together: where a
  /// round went, as far again and farther, as long as that helps.
  void go_on(const std::vector<double>& before);

  std::vector<Row> rows_;
  core::nccl::Parameters start_;
  core::nccl::Parameters p_;
  std::vector<std::vector<std::size_t>> of_;         ///< by figure: the rows that depend on it
  std::vector<std::vector<std::size_t>> identical_;  ///< figures of the same kind
  std::vector<double> pulls_;                        ///< by figure: weight of its penalty
  double total_ = 0;
};

}  // namespace tutti::nccl_fit
