#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/nccl/time/error_bands.h"

namespace tutti::nccl_fit {

/// The deviation of a measurement from its prediction. The parameters of the prediction were fitted
/// without the measurement's system.
struct Residual {
  std::string system;
  std::string transport;  ///< "one node", or the name of the network
  int nodes = 1;
  std::int64_t bytes = 0;
  /// The facts that describe the row. BandFacts::network is the number of other systems with the
  /// same network.
  core::nccl::BandFacts facts;
  double log_ratio = 0;  ///< logarithm of measured time over predicted time
  double weight = 0;     ///< weight of the row; the weights of each experiment have the same sum
};

/// Returns error bands that cover 80 % of the measurements. A system with n experiments has weight
/// √n. The factors of all facts are fitted jointly. A factor that few systems determine is
/// regularized towards 1.
core::nccl::ErrorBands fit_bands(const std::vector<Residual>& residuals);
/// Returns bands that do not depend on any facts; every experiment has equal weight. These bands
/// are the baseline for fit_bands().
core::nccl::ErrorBands fit_plain_bands(const std::vector<Residual>& residuals);

/// Sets the factor of bands for GPUs whose times are computed with the nearest known model. For
/// each residual, the row's whole generation of GPUs was left out of the fit, and the row was
/// predicted with the parameters of another generation. The factor is not regularized towards 1,
/// because few generations exist. For each generation, prints the coverage with a factor that was
/// fitted to all other generations.
void widen_for_nearest_gpu(const std::map<std::string, std::vector<Residual>>& by_generation,
                           core::nccl::ErrorBands& bands);

/// Prints the quality of bands on systems that were left out of the bands' fit: coverage, width and
/// interval score. The output has a row for all measurements, and rows by size (up to 64 KiB, up to
/// 4 MiB, larger), by one or several nodes, and by network. Networks of fewer than five systems
/// have a remark.
void print_coverage(const std::vector<Residual>& residuals);

}  // namespace tutti::nccl_fit
