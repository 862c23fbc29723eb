#pragma once

#include <vector>

#include "core/calibrate/fit.h"

namespace tutti::core {

/// The columns of a Jacobian. Column u contains the derivatives of all residuals with respect to
/// unknown u.
using Columns = std::vector<std::vector<double>>;

/// The unknowns that the residuals of a fit determine (`chosen`), with their confidence intervals.
/// For every other unknown, the entry in `unknowns` states why it is not determined.
struct DeterminedUnknowns {
  std::vector<int> chosen;
  std::vector<FittedUnknown> unknowns;  ///< status and interval of every unknown; the values are
                                        ///< not set
};

/// Chooses unknowns greedily (QR with column pivoting). The next unknown is the one whose effect on
/// the residuals is hardest to reproduce with the unknowns chosen so far. The selection ends when
/// the confidence interval of the next unknown would be wider than `problem.widest`. `deviation` is
/// the standard deviation of a residual.
DeterminedUnknowns determined(const FitProblem& problem, const Columns& columns, double deviation);

/// Computes the confidence intervals of `candidates`. As long as intervals are wider than
/// `problem.widest`, removes the last candidate with such an interval, and computes the intervals
/// again.
DeterminedUnknowns intervals(const FitProblem& problem, const Columns& columns, double deviation,
                             std::vector<int> candidates);

/// The scale of the loss function and the standard deviation of the residuals in a robust
/// regression.
struct RobustScale {
  double scale = 0;      ///< residual at which the loss function changes from quadratic to linear
  double deviation = 0;  ///< standard deviation of the residuals; the covariance of the unknowns is
                         ///< deviation^2 (J^T J)^-1
};
/// Returns the scale of the loss function for the next fit, and the standard deviation of
/// `residuals`. `residuals` are the residuals of a fit with the scale `scale`. `unknowns` is the
/// number of fitted unknowns. The returned deviation is at least `resolution`.
RobustScale robust_scale(const std::vector<double>& residuals, double scale, std::size_t unknowns,
                         double resolution);

/// Returns the half-width of a 95 % interval, in standard deviations. The half-width is the 97.5 %
/// quantile of Student's t distribution with `degrees` degrees of freedom.
/// REQUIRES: degrees > 0.
double student_factor(std::size_t degrees);

}  // namespace tutti::core
