#include "core/calibrate/determined.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <Eigen/QR>
#include <boost/math/distributions/students_t.hpp>

namespace tutti::core {
namespace {

Eigen::MatrixXd matrix_of(const Columns& columns, const std::vector<int>& which, std::size_t rows) {
  Eigen::MatrixXd matrix(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(which.size()));
  for (std::size_t c = 0; c < which.size(); ++c) {
    const std::vector<double>& column = columns[which[c]];
    matrix.col(static_cast<Eigen::Index>(c)) =
        Eigen::Map<const Eigen::VectorXd>(column.data(), static_cast<Eigen::Index>(rows));
  }
  return matrix;
}

/// Returns the standard error of each unknown, if the residuals have a standard deviation of 1.
/// REQUIRES: the columns are independent.
Eigen::VectorXd unit_errors(const Eigen::MatrixXd& jacobian) {
  // The errors are the roots of the diagonal of (JᵀJ)⁻¹. With J = QRPᵀ they are the norms of the
  // rows of R⁻¹. The rows are in the order of the pivots.
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(jacobian);
  const Eigen::Index n = jacobian.cols();
  const Eigen::MatrixXd inverse = qr.matrixQR().topRows(n).triangularView<Eigen::Upper>().solve(
      Eigen::MatrixXd::Identity(n, n));
  Eigen::VectorXd errors(n);
  for (Eigen::Index i = 0; i < n; ++i)
    errors(qr.colsPermutation().indices()(i)) = inverse.row(i).norm();
  return errors;
}

/// Returns the unknown in `chosen` whose effect on the residuals is most similar to that of
/// `unknown`: the absolute value of the cosine between their columns is largest.
int most_similar(const Columns& columns, int unknown, const std::vector<int>& chosen,
                 std::size_t rows) {
  const Eigen::VectorXd own = matrix_of(columns, {unknown}, rows).col(0);
  int best = -1;
  double most = 0;
  for (const int other : chosen) {
    const Eigen::VectorXd column = matrix_of(columns, {other}, rows).col(0);
    const double cosine = std::abs(own.dot(column)) / (own.norm() * column.norm());
    if (cosine > most) {
      most = cosine;
      best = other;
    }
  }
  return best;
}

}  // namespace

double student_factor(std::size_t degrees) {
  // By default, Boost computes in long double, which doubles the time to compile this file.
  using Double = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
  const boost::math::students_t_distribution<double, Double> distribution(
      static_cast<double>(degrees));
  return boost::math::quantile(distribution, 0.975);
}

namespace {

double half_width(const FitProblem& problem, double deviation, double unit_error,
                  std::size_t fitted) {
  return student_factor(problem.residuals - fitted) * deviation * unit_error;
}

/// Returns each unknown whose confidence interval would be narrow enough if the values of all other
/// unknowns were known.
std::vector<int> sensitive_ones(const FitProblem& problem, const Columns& columns,
                                double deviation) {
  std::vector<int> sensitive;
  for (std::size_t u = 0; u < columns.size(); ++u) {
    const double norm = std::sqrt(
        std::inner_product(columns[u].begin(), columns[u].end(), columns[u].begin(), 0.0));
    if (!problem.unknowns[u].kept && norm > 0 &&
        half_width(problem, deviation, 1 / norm, 1) <= problem.widest)
      sensitive.push_back(static_cast<int>(u));
  }
  return sensitive;
}

}  // namespace

DeterminedUnknowns intervals(const FitProblem& problem, const Columns& columns, double deviation,
                             std::vector<int> candidates) {
  DeterminedUnknowns result;
  result.unknowns.resize(problem.unknowns.size());
  const std::vector<int> sensitive = sensitive_ones(problem, columns, deviation);
  std::erase_if(candidates, [&sensitive](int u) {
    return std::find(sensitive.begin(), sensitive.end(), u) == sensitive.end();
  });
  candidates.resize(std::min(candidates.size(), problem.residuals - 1));
  while (!candidates.empty()) {
    const Eigen::VectorXd errors = unit_errors(matrix_of(columns, candidates, problem.residuals));
    std::size_t too_wide = candidates.size();
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const double half =
          half_width(problem, deviation, errors(static_cast<Eigen::Index>(i)), candidates.size());
      result.unknowns[candidates[i]].half_width = half;
      if (!(half <= problem.widest)) too_wide = i;
    }
    if (too_wide == candidates.size()) break;
    candidates.erase(candidates.begin() + too_wide);
  }
  result.chosen = candidates;
  for (std::size_t u = 0; u < problem.unknowns.size(); ++u) {
    if (problem.unknowns[u].kept) result.unknowns[u].determination = Determination::kKept;
  }
  for (const int u : sensitive) {
    FittedUnknown& unknown = result.unknowns[u];
    if (std::find(candidates.begin(), candidates.end(), u) != candidates.end()) {
      unknown.determination = Determination::kDetermined;
      continue;
    }
    if (candidates.empty()) continue;  // the residuals are too large to determine any unknown
    unknown.determination = Determination::kConfounded;
    unknown.confounded_with = most_similar(columns, u, candidates, problem.residuals);
  }
  return result;
}

DeterminedUnknowns determined(const FitProblem& problem, const Columns& columns, double deviation) {
  const std::vector<int> sensitive = sensitive_ones(problem, columns, deviation);
  std::vector<int> chosen;
  if (!sensitive.empty()) {
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(
        matrix_of(columns, sensitive, problem.residuals));
    for (std::size_t i = 0; i < std::min(sensitive.size(), problem.residuals - 1); ++i) {
      const auto pivot = static_cast<Eigen::Index>(i);
      const double beyond = std::abs(qr.matrixQR()(pivot, pivot));
      if (!(beyond > 0) || half_width(problem, deviation, 1 / beyond, i + 1) > problem.widest)
        break;
      chosen.push_back(sensitive[qr.colsPermutation().indices()(pivot)]);
    }
  }
  return intervals(problem, columns, deviation, chosen);
}

RobustScale robust_scale(const std::vector<double>& residuals, double scale, std::size_t unknowns,
                         double resolution) {
  const auto n = static_cast<double>(residuals.size());
  double squares = 0, slope = 0, slope_squares = 0;
  for (const double r : residuals) {
    const double bend = 1 + (r / scale) * (r / scale);
    squares += r * r / bend;
    const double derivative = std::pow(bend, -1.5);
    slope += derivative / n;
    slope_squares += derivative * derivative / n;
  }
  const double spread = std::max(0.0, slope_squares - slope * slope);
  const double correction = 1 + static_cast<double>(unknowns) / n * spread / (slope * slope);
  const double degrees = std::max(1.0, n - static_cast<double>(unknowns));
  RobustScale result;
  result.deviation = std::max(resolution, correction * std::sqrt(squares / degrees) / slope);
  std::vector<double> magnitudes;
  for (const double r : residuals) magnitudes.push_back(std::abs(r));
  const auto middle = magnitudes.begin() + magnitudes.size() / 2;
  std::nth_element(magnitudes.begin(), middle, magnitudes.end());
  // For a normal distribution, the standard deviation is 1.4826 times the median absolute
  // deviation. A scale of 1.345 standard deviations gives the estimator an efficiency of 95 %.
  result.scale = std::max(10 * resolution, 1.345 * 1.4826 * *middle);
  return result;
}

}  // namespace tutti::core
