#pragma once

#include <vector>

#include "core/calibrate/fit.h"

namespace tutti::core {

/// Derivatives of all residuals by one unknown each.
using Columns = std::vector<std::vector<double>>;

/// Which unknowns the residuals determine at a point, how well, and why not.
struct DeterminedUnknowns {
  std::vector<int> chosen;
  std::vector<FittedUnknown> unknowns;  ///< all; `value` is not filled in
};

/// Chooses unknowns greedily: always the one that does most to the residuals beyond what the chosen
/// ones can do, as long as its interval stays within `problem.widest`. `columns` are derivatives at
/// the point; `deviation` is a residual's standard deviation.
DeterminedUnknowns determined(const FitProblem& problem, const Columns& columns, double deviation);

/// The intervals of `candidates`; those that are too wide are dropped, the last of them first.
DeterminedUnknowns intervals(const FitProblem& problem, const Columns& columns, double deviation,
                             std::vector<int> candidates);

/// What a robust regression says about its residuals: how far the loss is from quadratic.
struct RobustScale {
  double scale = 0;      ///< where the loss turns from quadratic to linear
  double deviation = 0;  ///< so that deviation^2 (J^T J)^-1 is the covariance
};
/// `unknowns`: how many were fitted. Never below `resolution`.
RobustScale robust_scale(const std::vector<double>& residuals, double scale, std::size_t unknowns,
                         double resolution);

/// Half of a 95 % interval in standard deviations. REQUIRES: degrees > 0.
double student_factor(std::size_t degrees);

}  // namespace tutti::core
