#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/nccl/time/error_bands.h"

namespace tutti::nccl_fit {

/// How far a measurement lies from the prediction of a fit that did not know its system.
struct Residual {
  std::string system;
  std::string transport;  ///< "one node", or the network's name
  int nodes = 1;
  std::int64_t bytes = 0;
  core::nccl::BandFacts facts;  ///< with the network known from as many systems as are left
  double log_ratio = 0;         ///< of measured over predicted
  double weight = 0;            ///< every experiment's the same
};

/// Bands that eight of ten measurements lie in. A system of n experiments weighs as much as √n.
/// Each fact's factor is found beside the others', and the nearer to 1 the fewer systems speak of
/// it: two of ten systems change nothing for certain.
core::nccl::ErrorBands fit_bands(const std::vector<Residual>& residuals);
/// The same without facts, every experiment weighing the same: what is to be beaten.
core::nccl::ErrorBands fit_plain_bands(const std::vector<Residual>& residuals);

/// Says how bands hold systems that had no say in them: coverage, width and interval score in all,
/// by size class (at most 64 KiB, at most 4 MiB, more), by one or several nodes, and by network; of
/// networks of fewer than five systems that they are few.
void print_held(const std::vector<Residual>& residuals);

}  // namespace tutti::nccl_fit
