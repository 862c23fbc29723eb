#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/nccl/time/error_bands.h"

namespace tutti::nccl_fit {

/// The deviation of a measurement from the prediction of a fit that left out its system.
struct Residual {
  std::string system;
  std::string transport;  ///< "one node", or the name of the network
  int nodes = 1;
  std::int64_t bytes = 0;
  /// Facts of the row; the network counts as known from the systems that are left.
  core::nccl::BandFacts facts;
  double log_ratio = 0;  ///< logarithm of measured time over predicted time
  double weight = 0;     ///< weight; the sum is equal for all experiments
};

/// Returns bands that cover 80 % of measurements. A system with n experiments has weight √n. The
/// factors of all facts are fitted together, and a factor is pulled to 1 if few systems determine
/// it.
core::nccl::ErrorBands fit_bands(const std::vector<Residual>& residuals);
/// Returns bands without facts, with equal weight for every experiment: the baseline.
core::nccl::ErrorBands fit_plain_bands(const std::vector<Residual>& residuals);

/// Prints the quality of bands on systems that were left out of their fit: coverage, width and
/// interval score in total, by size class (at most 64 KiB, at most 4 MiB, more), by one or several
/// nodes, and by network, with a remark on networks of fewer than five systems.
void print_held(const std::vector<Residual>& residuals);

}  // namespace tutti::nccl_fit
