#pragma once

#include <vector>

#include "core/calibrate/fit.h"

namespace tutti::core {

/// The Jacobian by columns: the derivatives of all residuals by one unknown each.
using Columns = std::vector<std::vector<double>>;

/// The unknowns that the residuals determine at a point, their intervals, and the reasons why the
/// others are not determined.
struct DeterminedUnknowns {
  std::vector<int> chosen;
  std::vector<FittedUnknown> unknowns;  ///< all unknowns; `value` is not set
};

/// Chooses unknowns greedily: the next is always the unknown with the largest effect on the
/// residuals that the chosen ones cannot reproduce, as long as its interval stays within
/// `problem.widest`. `columns` are derivatives at the point; `deviation` is the standard deviation
/// of a residual.
DeterminedUnknowns determined(const FitProblem& problem, const Columns& columns, double deviation);

/// Computes the intervals of `candidates`, and drops those that are too wide, beginning with the
/// last.
DeterminedUnknowns intervals(const FitProblem& problem, const Columns& columns, double deviation,
                             std::vector<int> candidates);

/// Statistics of the residuals of a robust regression: how far the loss is from quadratic.
struct RobustScale {
  double scale = 0;      ///< residual at which the loss turns from quadratic to linear
  double deviation = 0;  ///< standard deviation such that deviation^2 (J^T J)^-1 is the covariance
};
/// `unknowns` is the number of fitted unknowns. Never below `resolution`.
RobustScale robust_scale(const std::vector<double>& residuals, double scale, std::size_t unknowns,
                         double resolution);

/// Returns half of a 95 % interval in standard deviations. REQUIRES: degrees > 0.
double student_factor(std::size_t degrees);

}  // namespace tutti::core
