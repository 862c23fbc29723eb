// Fits the unknowns of a model to measurements.
//
// The model is a simulator. Simulated times are smooth functions of the unknowns nearly everywhere,
// but have kinks where another link becomes the bottleneck. Some unknowns have no effect at some
// points and a large effect at others. An example is the bandwidth of a fast link in series with a
// slow one. The fit therefore has these steps:
// 1. The unknowns of each family are first shifted together, in coarse steps. This finds the common
//    change of the most important unknowns.
// 2. The Jacobian at that point shows which unknowns the residuals determine. These unknowns
//    are fitted first.
// 3. While a large error remains, unknowns that could explain the error are added one by one,
//    beginning with the best explanation.
// 4. If a large error still remains, the fit is repeated from shifts of each single unknown, and
//    its result is used if it is far better.
// 5. Unknowns that the residuals do not determine at the solution return to their start values. If
//    this would make the fit worse, an undetermined unknown moves towards its start value only
//    until the fit starts to become worse. An undetermined unknown that cannot return to its start
//    value has a lower or an upper bound.

#include "core/calibrate/fit.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include <nlopt.h>

#include "core/base/check.h"
#include "core/calibrate/determined.h"

namespace tutti::core {
namespace {

/// The value of a residual that cannot be computed. Residuals are clamped to ±kBad.
constexpr double kBad = 30;
constexpr double kFirstScale = 0.3;
/// The assumed standard deviation of residuals, until a fit gives a better estimate.
constexpr double kNominalDeviation = 0.05;
constexpr double kDifference = 0.002;
/// An unknown is added to the fit only if it reduces the remaining error to less than this share. A
/// statistical test alone is not sufficient: if the model fits badly, the test would accept
/// every unknown, even one with a small effect.
constexpr double kMaxErrorRatio = 0.5;
constexpr double kCoarse = 1e-3;
constexpr double kFine = 1e-6;
/// If the measurements give only an upper or lower bound of an unknown, its value keeps this
/// distance (a difference of logarithms) from the point where the fit becomes worse.
constexpr double kClear = 0.05;

using Point = std::vector<double>;

class Fitter {
 public:
  explicit Fitter(const FitProblem& problem) : problem_(problem) {
    for (const FitProblem::Unknown& unknown : problem.unknowns) {
      start_.push_back(unknown.start);
      first_.push_back(unknown.kept ? unknown.start : unknown.guess.value_or(unknown.start));
    }
  }

  Fit run() {
    Solution solution = solve(search_families());
    if (loss(residuals(solution.point), kFirstScale) >
        static_cast<double>(problem_.residuals) * kNominalDeviation * kNominalDeviation) {
      Solution other = solve(search_alone());
      const double was = loss(residuals(solution.point), kFirstScale);
      if (loss(residuals(other.point), kFirstScale) < kMaxErrorRatio * was)
        solution = std::move(other);
    }
    fitted_ = solution.fitted;
    scale_ = solution.robust.scale;
    const std::set<int> bounded = take_back(solution.point, solution.robust);
    return result_at(solution.point, solution.robust, bounded);
  }

 private:
  struct Solution {
    Point point;
    std::vector<int> fitted;
    RobustScale robust;
  };

  /// Performs steps 2 and 3.
  Solution solve(Point point) {
    scale_ = kFirstScale;
    fitted_ = determined(problem_, columns(point), kNominalDeviation).chosen;
    RobustScale robust = refine(point);
    while (!stopped() && add_unknown(point, robust)) {
    }
    return {std::move(point), fitted_, robust};
  }

  bool stopped() {
    cancelled_ = cancelled_ || problem_.cancelled();
    return cancelled_;
  }

  std::vector<double> residuals(const Point& point) {
    ++evaluations_;
    if (auto values = problem_.evaluate(point)) {
      TUTTI_CHECK(values->size() == problem_.residuals, "{} residuals, not {}", values->size(),
                  problem_.residuals);
      for (double& value : *values)
        value = std::isfinite(value) ? std::clamp(value, -kBad, kBad) : kBad;
      return std::move(*values);
    }
    return std::vector<double>(problem_.residuals, kBad);
  }

  /// The soft-L1 loss: r^2 if r is small compared to the scale, and 2 · scale · |r| if r is large.
  static double loss(const std::vector<double>& residuals, double scale) {
    double sum = 0;
    for (const double r : residuals)
      sum += 2 * scale * scale * (std::sqrt(1 + r * r / (scale * scale)) - 1);
    return sum;
  }
  double cost(const Point& point) { return loss(residuals(point), scale_); }

  /// Step 3: adds one more unknown to the fit. Tries each remaining unknown, starting well above
  /// and well below its current value. The best of these fits is kept if it is significantly better
  /// than the fit without the unknown. Otherwise returns false.
  bool add_unknown(Point& point, RobustScale& robust) {
    const double was = loss(residuals(point), kFirstScale);
    const std::vector<int> before = fitted_;
    if (before.size() + 2 > problem_.residuals) return false;
    Point best = point;
    int joins = -1;
    double least = was;
    scale_ = kFirstScale;
    for (std::size_t u = 0; u < point.size(); ++u) {
      if (problem_.unknowns[u].kept || contains(before, static_cast<int>(u))) continue;
      fitted_ = before;
      fitted_.push_back(static_cast<int>(u));
      for (const double shift : {-1.5, 1.5}) {
        Point tried = point;
        tried[u] = within(u, point[u] + shift);
        if (stopped() || unchanged(point, tried)) continue;
        minimise(tried, kCoarse);
        const double now = cost(tried);
        if (now >= least) continue;
        least = now;
        best = tried;
        joins = static_cast<int>(u);
      }
    }
    fitted_ = before;
    if (joins < 0) return false;
    fitted_.push_back(joins);
    const RobustScale refined = refine(best);
    if (least < kMaxErrorRatio * was && worse(was, least, refined)) {
      point = best;
      robust = refined;
      return true;
    }
    fitted_ = before;
    return false;
  }

  /// True if the residuals at both points differ by less than the resolution of measurements.
  bool unchanged(const Point& a, const Point& b) {
    const std::vector<double> here = residuals(a), there = residuals(b);
    double most = 0;
    for (std::size_t r = 0; r < here.size(); ++r)
      most = std::max(most, std::abs(here[r] - there[r]));
    return most < problem_.resolution;
  }

  Fit result_at(const Point& point, const RobustScale& robust, const std::set<int>& bounded) {
    Fit result;
    result.unknowns = intervals(problem_, columns(point), robust.deviation, fitted_).unknowns;
    for (std::size_t u = 0; u < start_.size(); ++u) {
      FittedUnknown& unknown = result.unknowns[u];
      unknown.value = point[u];
      const bool moved = point[u] != start_[u];
      if (bounded.contains(static_cast<int>(u)) ||
          (moved && unknown.determination != Determination::kDetermined))
        unknown.determination = Determination::kBounded;
    }
    result.residuals = residuals(point);
    result.cancelled = stopped();
    result.evaluations = evaluations_;
    return result;
  }

  static bool contains(const std::vector<int>& unknowns, int unknown) {
    return std::find(unknowns.begin(), unknowns.end(), unknown) != unknowns.end();
  }

  [[nodiscard]] double within(std::size_t unknown, double value) const {
    return std::clamp(value, problem_.unknowns[unknown].least, problem_.unknowns[unknown].most);
  }

  /// Step 1: shifts the unknowns of each family together.
  Point search_families() {
    std::set<int> families;
    for (const FitProblem::Unknown& unknown : problem_.unknowns) {
      if (!unknown.kept) families.insert(unknown.family);
    }
    scale_ = kFirstScale;
    Point best = first_;
    double least = cost(best);
    for (const double width : {2.0, 1.0, 0.5, 0.25}) {
      for (int pass = 0; pass < 2; ++pass) {
        for (const int family : families) {
          const Point from = best;
          for (const double steps : {-3, -2, -1, 1, 2, 3}) {
            if (stopped()) return best;
            const Point point = shifted(from, family, steps * width);
            const double here = cost(point);
            if (here >= least) continue;
            least = here;
            best = point;
          }
        }
      }
    }
    return best;
  }

  /// Step 4: repeats the fit after shifting a single unknown. Each unknown is shifted in turn.
  Point search_alone() {
    scale_ = kFirstScale;
    Point best = first_;
    double least = cost(best);
    for (const double width : {2.0, 1.0, 0.5, 0.25}) {
      for (std::size_t u = 0; u < best.size(); ++u) {
        if (problem_.unknowns[u].kept) continue;
        for (const double shift : {-width, width}) {
          for (int step = 0; step < 4 && !stopped(); ++step) {
            Point point = best;
            point[u] = within(u, best[u] + shift);
            const double here = cost(point);
            if (here >= least * (1 - 1e-6)) break;
            least = here;
            best = std::move(point);
          }
        }
      }
    }
    return best;
  }

  [[nodiscard]] Point shifted(const Point& from, int family, double shift) const {
    Point point = from;
    for (std::size_t u = 0; u < point.size(); ++u) {
      const FitProblem::Unknown& unknown = problem_.unknowns[u];
      if (unknown.family == family && !unknown.kept) point[u] = within(u, point[u] + shift);
    }
    return point;
  }

  /// Returns the derivatives of the residuals with respect to all unknowns.
  Columns columns(const Point& point) {
    Columns columns(point.size());
    for (std::size_t u = 0; u < point.size(); ++u) {
      columns[u].assign(problem_.residuals, 0);
      if (problem_.unknowns[u].kept || stopped()) continue;
      Point above = point, below = point;
      above[u] = within(u, point[u] + kDifference);
      below[u] = within(u, point[u] - kDifference);
      const std::vector<double> high = residuals(above);
      const std::vector<double> low = residuals(below);
      for (std::size_t r = 0; r < high.size(); ++r)
        columns[u][r] = (high[r] - low[r]) / (above[u] - below[u]);
    }
    return columns;
  }

  /// Fits the unknowns, computes the scale of the loss function from the remaining residuals, and
  /// fits again with this scale.
  RobustScale refine(Point& point) {
    scale_ = kFirstScale;
    minimise(point, kCoarse);
    scale_ = robust_scale(residuals(point), scale_, fitted_.size(), problem_.resolution).scale;
    minimise(point, kFine);
    return robust_scale(residuals(point), scale_, fitted_.size(), problem_.resolution);
  }

  struct Search {
    Fitter* self;
    Point point;
    Point best;
    double least;
  };

  /// Minimises the cost over the fitted unknowns and stores their values in `point`. `precision` is
  /// the required precision of the values.
  void minimise(Point& point, double precision) {
    if (fitted_.empty() || stopped()) return;
    // BOBYQA needs at least two unknowns.
    const nlopt_algorithm algorithm = fitted_.size() > 1 ? NLOPT_LN_BOBYQA : NLOPT_LN_SBPLX;
    const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> optimiser(
        nlopt_create(algorithm, static_cast<unsigned>(fitted_.size())), &nlopt_destroy);
    TUTTI_CHECK(optimiser != nullptr, "no optimiser for {} unknowns", fitted_.size());
    Search search{this, point, point, cost(point)};
    Point least, most, x;
    for (const int u : fitted_) {
      const FitProblem::Unknown& unknown = problem_.unknowns[u];
      least.push_back(unknown.least);
      most.push_back(unknown.most);
      x.push_back(point[u]);
    }
    nlopt_set_lower_bounds(optimiser.get(), least.data());
    nlopt_set_upper_bounds(optimiser.get(), most.data());
    nlopt_set_min_objective(optimiser.get(), &Fitter::objective, &search);
    nlopt_set_initial_step1(optimiser.get(), 0.2);
    nlopt_set_xtol_abs1(optimiser.get(), precision);
    nlopt_set_maxeval(optimiser.get(), 100 * static_cast<int>(fitted_.size()));
    double value = 0;
    // The status is ignored: if rounding prevents progress, the optimiser stops with an error, but
    // the best evaluated point is still useful.
    nlopt_optimize(optimiser.get(), x.data(), &value);
    point = search.best;
  }

  static double objective(unsigned count, const double* x, double*, void* data) {
    Search& search = *static_cast<Search*>(data);
    if (search.self->stopped()) return search.least;
    for (unsigned i = 0; i < count; ++i) {
      const std::size_t u = search.self->fitted_[i];
      search.point[u] = search.self->within(u, x[i]);
    }
    const double value = search.self->cost(search.point);
    if (value < search.least) {
      search.least = value;
      search.best = search.point;
    }
    return value;
  }

  /// True if the cost has grown significantly. 3.84 is the 95 % point of the chi-square
  /// distribution with one degree of freedom.
  static bool worse(double now, double before, const RobustScale& robust) {
    return now > before + 3.84 * robust.deviation * robust.deviation;
  }

  /// Step 5: resets undetermined unknowns to their start values, if this does not make the fit
  /// worse. Returns the unknowns that could not be reset.
  std::set<int> take_back(Point& point, RobustScale& robust) {
    fitted_ = intervals(problem_, columns(point), robust.deviation, fitted_).chosen;
    const double before = cost(point);
    std::set<int> away;
    for (std::size_t u = 0; u < point.size(); ++u) {
      if (point[u] != start_[u] && !contains(fitted_, static_cast<int>(u)))
        away.insert(static_cast<int>(u));
    }
    // Repeat until nothing changes. When one unknown has been reset, it may be possible to reset
    // another.
    for (bool going = true; going && !stopped();) {
      going = false;
      for (const int u : std::set<int>(away)) {
        Point back = point;
        back[u] = start_[u];
        minimise(back, kCoarse);
        if (stopped() || worse(cost(back), before, robust)) continue;
        point = back;
        away.erase(u);
        going = true;
      }
    }
    for (const int u : away) nearest_to_start(static_cast<std::size_t>(u), before, robust, point);
    minimise(point, kFine);
    robust = robust_scale(residuals(point), scale_, fitted_.size(), problem_.resolution);
    return away;
  }

  /// Moves an unknown as close to its start value as possible without making the fit worse. All
  /// other unknowns are fixed.
  void nearest_to_start(std::size_t u, double before, const RobustScale& robust, Point& point) {
    double good = point[u], bad = start_[u];
    while (std::abs(good - bad) > 1e-4 && !stopped()) {
      Point between = point;
      between[u] = (good + bad) / 2;
      (worse(cost(between), before, robust) ? bad : good) = between[u];
    }
    // Keep a small distance from the point where the fit becomes worse, so that this unknown does
    // not affect the determined ones.
    point[u] = within(u, good + (good > start_[u] ? kClear : -kClear));
  }

  const FitProblem& problem_;
  Point start_;
  Point first_;              ///< point at which the search begins
  std::vector<int> fitted_;  ///< fitted unknowns, in the order in which they were added
  double scale_ = kFirstScale;
  int evaluations_ = 0;
  bool cancelled_ = false;
};

}  // namespace

Fit fit(const FitProblem& problem) {
  TUTTI_CHECK(problem.residuals >= 2, "{} residuals", problem.residuals);
  return Fitter(problem).run();
}

}  // namespace tutti::core
