#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/measured/quality.h"
#include "tools/nccl_spread/systems.h"

namespace tutti::nccl_spread {

/// The scales under which given tables predict others best: the least mean of the negative
/// logarithm of Student's density (5 degrees of freedom) of what was measured, and a weak pull to
/// where the scales started.
core::nccl::Spread learn(const std::vector<System>& systems);

/// The deviation of a measurement from its prediction.
struct Residual {
  std::size_t system = 0;
  bool several_nodes = false;
  std::size_t size = 0;
  double cold_log_ratio = 0;  ///< logarithm of measured time over predicted time
  double log_ratio = 0;       ///< logarithm of measured time over corrected prediction
  double sd = 0;              ///< standard deviation by the Gaussian process, without widening
  double sd_before = 0;
  core::nccl::ErrorBand cold;
  double weight = 0;
};

/// Returns the residuals of the requested rows of all cases.
std::vector<Residual> residuals(const std::vector<Case>& cases, const core::nccl::Spread& spread,
                                const core::nccl::ErrorBands& bands);

/// Sets the factors by which the error bands are widened so that 80 % of the residuals lie inside.
/// Factors are at least 1.
void widen(core::nccl::Spread& spread, const std::vector<Residual>& residuals);

}  // namespace tutti::nccl_spread
