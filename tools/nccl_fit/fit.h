#pragma once

#include <cstddef>
#include <vector>

#include "core/nccl/time/parameters.h"
#include "tools/nccl_fit/rows.h"

namespace tutti::nccl_fit {

/// The error of a row, with its sign, and the weight of the row.
struct GroupError {
  double log_ratio = 0;  ///< logarithm of predicted time over measured time
  double weight = 0;
};
/// Returns the offset of a group of rows: the weighted median of the rows' errors and an additional
/// error of 0, which has 30 % of the rows' total weight. The offset is therefore 0 unless rows with
/// at least 65 % of this total weight have errors of the same sign.
double offset_of(std::vector<GroupError> errors);

/// Finds the parameters that minimise the mean of |log(predicted / measured)|, by coordinate
/// descent with decreasing steps. A penalty pulls each parameter towards its start value times a
/// factor: the mean factor by which the other parameters of the same kind (of other GPU
/// generations, or of other networks) have changed. A machine for which few systems have
/// measurements is therefore assumed to behave like other machines.
///
/// The rows of one system have errors in common, for example because its CPUs are slow. Without
/// precautions, parameters that many systems share would explain the errors of single systems. The
/// fit therefore has two stages. After the first stage, each group of rows (a system, on one or on
/// several nodes, with one collective) gets an offset: a part of the group's typical error. The
/// second stage fits the parameters to the measurements without these offsets, and updates the
/// offsets. Predictions have no offset, because the offset of an unknown system is unknown.
class Fit {
 public:
  Fit(std::vector<Row> rows, const core::nccl::Parameters& start);

  core::nccl::Parameters run();
  /// Returns the cost of these parameters, which run() minimises: the mean of |log(predicted /
  /// measured)| plus the penalties.
  double cost_of(const core::nccl::Parameters& figures);
  /// Returns the number of rows whose prediction depends on parameter `k`.
  [[nodiscard]] std::size_t rows_of(std::size_t k) const { return of_[k].size(); }

 private:
  [[nodiscard]] std::vector<double> values() const;
  void set(const std::vector<double>& all);
  /// Returns the total cost, which is minimised.
  [[nodiscard]] double cost() const;
  /// Returns the part of the cost that depends on parameter `k`. Stores the errors of the rows that
  /// depend on this parameter in tried_.
  [[nodiscard]] double cost(std::size_t k);
  /// Returns cost(k) of the current parameters, from the stored errors.
  [[nodiscard]] double stored_cost(std::size_t k) const;
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
  /// The error of a row: |log(predicted / measured)|, without the offset of the row's group.
  [[nodiscard]] double error(std::size_t row) const;
  void store_errors();
  void update_offsets();
  /// Coordinate descent that begins with steps of the length `step`.
  void descend(double step, bool with_offsets);
  bool improve(std::size_t k, double step);
  /// Continues the change of the parameters from `before` to their current values: repeats the
  /// change with twice the length each time, as long as the cost decreases. Parameters that
  /// compensate each other, such as the times of a launch and of the subsequent hops, thus change
  /// together.
  void go_on(const std::vector<double>& before);

  std::vector<Row> rows_;
  core::nccl::Parameters start_;
  core::nccl::Parameters p_;
  std::vector<std::vector<std::size_t>>
      of_;  ///< for each parameter, the rows whose predictions depend on it
  /// For each parameter, the other parameters of the same kind.
  std::vector<std::vector<std::size_t>> identical_;
  std::vector<double> penalties_;         ///< for each parameter, the weight of its penalty
  std::vector<std::size_t> group_;        ///< for each row, the index of its group
  std::vector<double> offsets_;           ///< the offset of each group
  std::vector<double> errors_;            ///< for each row, the error with the current parameters
  std::vector<double> tried_, improved_;  ///< errors of the rows that depend on one parameter
  double total_ = 0;
};

}  // namespace tutti::nccl_fit
