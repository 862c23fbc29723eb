#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tutti::core {

/// A fit: unknowns with bounds, and the residuals to minimise.
struct FitProblem {
  struct Unknown {
    double start = 0;  ///< value that it keeps, or goes back to, unless the residuals determine it
    double least = 0;
    double most = 0;
    /// Unknowns of one family are first shifted together, so that a distant solution is found even
    /// if each unknown by itself has no effect on the way.
    int family = 0;
    bool kept = false;              ///< stays at `start`
    std::optional<double> guess{};  ///< value at which the search begins instead of `start`
  };
  std::vector<Unknown> unknowns;
  std::size_t residuals = 0;
  /// Returns the residuals at a point, `residuals` in number; nullopt if they cannot be computed,
  /// which counts as a bad point.
  std::function<std::optional<std::vector<double>>(const std::vector<double>&)> evaluate;
  /// Called between evaluations; returning true ends the fit.
  std::function<bool()> cancelled = [] { return false; };

  /// The smallest assumed error of a residual, even if all residuals vanish.
  double resolution = 0.001;
  /// An unknown whose 95 % interval is wider than ± this value is not determined.
  double widest = 0.6931471805599453;  // ln 2
};

enum class Determination {
  kKept,         ///< not to be fitted
  kDetermined,   ///< fitted, with an interval
  kBounded,      ///< only known to be at least, or at most, its current value, and moved no further
                 ///< from its start
  kInsensitive,  ///< the residuals do not depend on it enough; left at its start
  kConfounded,   ///< another unknown has the same effect on the residuals; left at its start
};

struct FittedUnknown {
  double value = 0;
  Determination determination = Determination::kInsensitive;
  double half_width = 0;     ///< half of the 95 % interval's width; kDetermined
  int confounded_with = -1;  ///< kConfounded: the most similar unknown
};

struct Fit {
  std::vector<FittedUnknown> unknowns;
  std::vector<double> residuals;
  bool cancelled = false;
  int evaluations = 0;
};

/// Minimises the sum of soft-L1 losses of the residuals over the unknowns that they determine, and
/// leaves the other unknowns at their start. The loss is quadratic up to about 1.3 robust standard
/// deviations and linear beyond.
///
/// Intervals are those of a robust regression at its solution, from a Jacobian by central
/// differences, with Student's factor for residuals minus unknowns degrees of freedom.
/// Deterministic. Cost: some hundred evaluations.
/// SOURCE: Huber, "Robust Statistics", 1981, section 7.6 (covariance); Golub & Van Loan, "Matrix
/// Computations", section 5.5.7 (subset selection by QR with column pivoting); Powell, "The BOBYQA
/// algorithm", 2009 (minimiser, NLopt). REQUIRES: at least two residuals; evaluate() succeeds at
/// the start.
Fit fit(const FitProblem& problem);

}  // namespace tutti::core
