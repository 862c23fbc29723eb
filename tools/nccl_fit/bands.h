#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/nccl/time/error_bands.h"

namespace tutti::nccl_fit {

/// The deviation of a measurement from the prediction of a fit that left out its system.
struct Residual {
  std::string system;
  std::string transport;  ///< "one node", or the network's name
  int nodes = 1;
  std::int64_t bytes = 0;
  core::nccl::BandFacts facts;  ///< with the network known from as many systems as are left
  double log_ratio = 0;         ///< of measured over predicted
  double weight = 0;            ///< every experiment's the same
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
