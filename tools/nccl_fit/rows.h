#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/measured/table_model.h"
#include "core/nccl/time/parameters.h"

namespace tutti::nccl_fit {

/// A measurement, and what the fit has to know of it.
struct Row {
  const core::nccl::TableModel* model = nullptr;
  std::size_t index = 0;
  double log_us = 0;
  double weight = 0;  ///< weight of its error: every config weighs the same
  /// Weight in a fit; grows with a system's configs, but less than proportionally.
  double say = 0;
  std::vector<std::size_t> touches;  ///< parameters that change the row's prediction
  int others = 99;
  bool known = false;  ///< true: another system has all parts that the prediction depends on
};

/// The owner of the machines. Text in parentheses in its name is detail ("CSCS Alps (clariden)").
std::string system_of(const Row& row);

/// Measurements that are no outliers, of networks that do not reduce. `start`: by what of it a
/// row's prediction is changed is what the row depends on.
std::vector<Row> rows_of(const std::vector<core::nccl::TableModel>& models,
                         const core::nccl::Parameters& start);

}  // namespace tutti::nccl_fit
