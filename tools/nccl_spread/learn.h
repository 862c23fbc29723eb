#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/measured/quality.h"
#include "tools/nccl_spread/systems.h"

namespace tutti::nccl_spread {

/// The correlation between the errors of a system's tables of one node and those of its tables of
/// several nodes. The hops and rates of NVLink and of a network have different causes, so the
/// correlation is low. The correlation cannot be learned, for two reasons. Only eight systems have
/// tables of one and of several nodes. Some of their errors have causes that the model does not
/// contain; with such errors, the likelihood is higher for a high correlation, because a high
/// correlation makes the bands wider.
inline constexpr double kAcrossNodes = 0.1;

/// Returns the scales (core::nccl::Scale) with which the Gaussian process best predicts tables of a
/// system from other tables of the same system. The scales minimise the mean negative
/// log-likelihood of the measurements under Student's t distribution with 5 degrees of freedom,
/// with a weak regularization towards the start values. Scale::kAcross is not learned; its value is
/// kAcrossNodes.
core::nccl::Spread learn(const std::vector<System>& systems);

/// The deviation of a measurement from its prediction.
struct Residual {
  std::size_t system = 0;
  bool several_nodes = false;
  std::size_t size = 0;
  double cold_log_ratio = 0;  ///< logarithm of measured time / predicted time
  double log_ratio = 0;       ///< logarithm of measured time / corrected prediction
  /// Standard deviations that the Gaussian process predicts (core/nccl/calibration/time_process.h).
  /// `sd` is the standard deviation of log_ratio, that is, after the correction by the case's given
  /// tables, but before widen() is applied. `sd_before` is the standard deviation of
  /// cold_log_ratio, without these tables.
  double sd = 0;
  double sd_before = 0;
  core::nccl::ErrorBand cold;
  double weight = 0;
};

/// Predicts the requested tables of each case, and returns the residuals of their rows.
std::vector<Residual> residuals(const std::vector<Case>& cases, const core::nccl::Spread& spread,
                                const core::nccl::ErrorBands& bands);

/// Sets the factors that widen the error bands so that they contain 80 % of the residuals. Factors
/// are at least 1.
void widen(core::nccl::Spread& spread, const std::vector<Residual>& residuals);

}  // namespace tutti::nccl_spread
