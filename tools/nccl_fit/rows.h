#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/measured/table_model.h"
#include "core/nccl/time/parameters.h"

namespace tutti::nccl_fit {

/// A measured time (a row of a table of nccl-tests), with data for the fit.
struct Row {
  const core::nccl::TableModel* model = nullptr;
  std::size_t index = 0;
  double log_us = 0;
  double weight =
      0;  ///< weight of the row's error; the weights of the rows of a configuration add up to 1
  /// The weight of the row in a fit: `weight` divided by √n, where n is the number of
  /// configurations of the system. The total weight of a system is therefore √n.
  double fit_weight = 0;
  std::vector<std::size_t> touches;  ///< the parameters on which the row's prediction depends
  int others = 99;
  /// True: measurements of other systems determine all parameters of the row's prediction.
  bool known = false;
};

/// Returns the name of the row's system without details in parentheses, such as "CSCS Alps" for
/// "CSCS Alps (clariden)".
std::string system_of(const Row& row);

/// Returns the rows of all tables, except outliers and reductions inside network switches.
/// Row::touches has the parameters of `start` on which the row's prediction depends.
std::vector<Row> rows_of(const std::vector<core::nccl::TableModel>& models,
                         const core::nccl::Parameters& start);

}  // namespace tutti::nccl_fit
