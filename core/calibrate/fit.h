#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tutti::core {

/// The input of a fit: unknowns with bounds, and the residuals to minimise.
struct FitProblem {
  struct Unknown {
    double start = 0;  ///< start of the search, and the result if the residuals do not determine
                       ///< the unknown
    double least = 0;
    double most = 0;
    /// The fit first shifts all unknowns of a family together. Shifting all unknowns of a family
    /// can find a distant solution that no change of a single unknown leads to.
    int family = 0;
    bool kept = false;              ///< true: the unknown is not fitted and stays at `start`
    std::optional<double> guess{};  ///< value at which the search begins, if it differs from
                                    ///< `start`
  };
  std::vector<Unknown> unknowns;
  std::size_t residuals = 0;
  /// Returns the residuals at a point; their number is `residuals`. Returns nullopt if the
  /// residuals cannot be computed, in which case the fit treats the point as a bad one.
  std::function<std::optional<std::vector<double>>(const std::vector<double>&)> evaluate;
  /// Called between evaluations. The fit ends if the function returns true.
  std::function<bool()> cancelled = [] { return false; };

  /// The lower bound on the assumed error of a residual. The lower bound applies even if all
  /// residuals are 0.
  double resolution = 0.001;
  /// The largest half-width of a 95 % interval; an unknown with a wider interval is not determined.
  double widest = 0.6931471805599453;  // ln 2
};

enum class Determination {
  kKept,         ///< not fitted, because FitProblem::Unknown::kept was set
  kDetermined,   ///< fitted, with an interval
  kBounded,      ///< the measurements only give a lower or an upper bound; the value is this bound
  kInsensitive,  ///< the residuals depend too little on the unknown, which stays at its start
  kConfounded,   ///< another unknown has the same effect on the residuals; this unknown stays at
                 ///< its start
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

/// Minimises the sum of the soft-L1 losses of the residuals over the unknowns that the residuals
/// determine. An unknown that the residuals do not determine keeps its start value. The loss is
/// quadratic up to about 1.3 robust standard deviations, and linear above. The result is
/// deterministic.
///
/// The intervals are those of a robust regression at the solution. The Jacobian is computed by
/// central differences, and Student's distribution has (residuals - fitted unknowns) degrees of
/// freedom.
/// Cost: a few hundred evaluations.
/// SOURCE: Huber, "Robust Statistics", 1981, section 7.6 (covariance); Golub & Van Loan, "Matrix
/// Computations", section 5.5.7 (subset selection by QR with column pivoting); Powell, "The BOBYQA
/// algorithm", 2009 (minimiser, NLopt).
/// REQUIRES: at least two residuals; evaluate() succeeds at the start.
Fit fit(const FitProblem& problem);

}  // namespace tutti::core
