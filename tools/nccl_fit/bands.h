#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/nccl/time/error_bands.h"

namespace tutti::nccl_fit {

/// The deviation of a measured time from a prediction whose parameters were fitted without the
/// measurement's system.
struct Residual {
  std::string system;
  std::string transport;  ///< "one node", or the name of the network
  int nodes = 1;
  std::int64_t bytes = 0;
  /// The facts that describe the measurement. BandFacts::network is the number of other systems
  /// with the same network.
  core::nccl::BandFacts facts;
  double log_ratio = 0;  ///< logarithm of measured time over predicted time
  double weight = 0;  ///< weight of the row; the sum of the weights of an experiment's rows is the
                      ///< same for all experiments
};

/// Returns error bands that cover 80 % of the measurements. A system with n experiments has weight
/// √n. The factors of all facts are fitted jointly. If only few systems determine a factor, the
/// factor is regularized towards 1.
core::nccl::ErrorBands fit_bands(const std::vector<Residual>& residuals);
/// Returns bands that do not depend on any facts; every experiment has equal weight. These bands
/// are the baseline for fit_bands().
core::nccl::ErrorBands fit_plain_bands(const std::vector<Residual>& residuals);

/// Sets the factor that widens the error bands of GPUs without parameters of their own. Times on
/// such GPUs are predicted with the parameters of the nearest known generation of GPUs.
/// `by_generation` has, for each generation of GPUs, the residuals if this generation is left out
/// of the fit and predicted with the parameters of another generation. Because there are few
/// generations of GPUs, the factor is not regularized towards 1. For each generation, prints the
/// coverage (the share of measurements inside the bands) with a factor that was fitted to all other
/// generations.
void widen_for_nearest_gpu(const std::map<std::string, std::vector<Residual>>& by_generation,
                           core::nccl::ErrorBands& bands);

/// Prints the quality of bands on systems that were left out of the bands' fit: coverage, width and
/// interval score. The output has a row for all measurements, and rows by size (up to 64 KiB, up to
/// 4 MiB, larger), by one or several nodes, and by network. A remark marks networks with fewer than
/// five systems.
void print_coverage(const std::vector<Residual>& residuals);

}  // namespace tutti::nccl_fit
