#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tutti::core {

/// The input of a fit: unknowns with bounds, and the residuals to minimise.
struct FitProblem {
  struct Unknown {
    double start = 0;  ///< start value of the search unless `guess` is set; also the result if the
                       ///< residuals do not determine the unknown
    double least = 0;
    double most = 0;
    /// The number of the unknown's family. The fit first shifts all unknowns of a family together,
    /// because a distant solution may not be reachable by changing one unknown at a time.
    int family = 0;
    bool kept = false;              ///< true if the unknown is not fitted but stays at `start`
    std::optional<double> guess{};  ///< value at which the search begins instead of at `start`
  };
  std::vector<Unknown> unknowns;
  std::size_t residuals = 0;
  /// Returns the residuals at a point. The result must have `residuals` elements. Returns nullopt
  /// if the residuals cannot be computed; the fit then treats all residuals as very large.
  std::function<std::optional<std::vector<double>>(const std::vector<double>&)> evaluate;
  /// Called between evaluations. The fit ends if the function returns true.
  std::function<bool()> cancelled = [] { return false; };

  /// The minimum standard deviation of a residual that the fit assumes, even if all residuals are
  /// 0.
  double resolution = 0.001;
  /// The maximum half-width of a 95 % interval. An unknown with a wider interval counts as not
  /// determined.
  double widest = 0.6931471805599453;  // ln 2
};

enum class Determination {
  kKept,        ///< not fitted, because FitProblem::Unknown::kept was set
  kDetermined,  ///< fitted, with an interval
  kBounded,  ///< the measurements give only a lower or an upper bound of the unknown; the value is
             ///< this bound
  kInsensitive,  ///< the residuals depend too little on the unknown, so it stays at its start value
  kConfounded,   ///< another unknown has the same effect on the residuals, so this one stays at its
                 ///< start value
};

struct FittedUnknown {
  double value = 0;
  Determination determination = Determination::kInsensitive;
  double half_width = 0;     ///< only for kDetermined: half-width of the 95 % interval
  int confounded_with = -1;  ///< only for kConfounded: the unknown with the most similar effect
};

struct Fit {
  std::vector<FittedUnknown> unknowns;
  std::vector<double> residuals;
  bool cancelled = false;
  int evaluations = 0;
};

/// Finds the values of the unknowns with the smallest sum of the soft-L1 losses of all residuals.
/// An unknown that the residuals do not determine keeps its start value. The loss is quadratic up
/// to about 1.3 robust standard deviations, and linear above. The result is deterministic.
///
/// The confidence intervals are those of a robust regression at the solution. The intervals are
/// computed from the Jacobian (by central differences) and Student's t distribution. The number of
/// degrees of freedom is the number of residuals minus the number of fitted unknowns.
/// Cost: a few hundred evaluations.
/// SOURCE: Huber, "Robust Statistics", 1981, section 7.6 (covariance); Golub & Van Loan, "Matrix
/// Computations", section 5.5.7 (subset selection by QR with column pivoting); Powell, "The BOBYQA
/// algorithm", 2009 (minimiser, NLopt).
/// REQUIRES: at least two residuals; evaluate() succeeds at the start.
Fit fit(const FitProblem& problem);

}  // namespace tutti::core
