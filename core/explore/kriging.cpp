#include "core/explore/kriging.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include <Eigen/Cholesky>

namespace tutti::core {
namespace {

/// Candidates for the correlation length of an axis. With the longest one, the axis has almost no
/// effect.
constexpr std::array<double, 8> kReaches{0.06, 0.12, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0};
/// Candidates for the variance of the noise. The cost is not a smooth function of the pack size, so
/// fluctuations between adjacent values are treated as noise.
constexpr std::array<double, 5> kNoises{1e-6, 1e-4, 1e-3, 1e-2, 5e-2};
constexpr int kPasses = 2;

}  // namespace

double Kriging::correlation(const Point& a, const Point& b) const {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double distance = ordered_[i] ? a[i] - b[i] : (a[i] == b[i] ? 0.0 : 1.0);
    sum += distance * distance / (reach_[i] * reach_[i]);
  }
  return std::exp(-0.5 * sum);
}

double Kriging::factor() {
  const auto n = static_cast<Eigen::Index>(places_.size());
  Eigen::MatrixXd kernel(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < i; ++j)
      kernel(i, j) = kernel(j, i) = correlation(places_[i], places_[j]);
    kernel(i, i) = 1 + noise_ + 1e-10;
  }
  const Eigen::LLT<Eigen::MatrixXd> llt(kernel);
  if (llt.info() != Eigen::Success) return -std::numeric_limits<double>::infinity();
  factor_ = llt.matrixL();
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(n);
  const Eigen::VectorXd y = Eigen::Map<const Eigen::VectorXd>(values_.data(), n);
  // The mean and the variance that maximize the likelihood have closed forms.
  const Eigen::VectorXd of_ones = llt.solve(ones);
  mean_ = of_ones.dot(y) / of_ones.sum();
  const Eigen::VectorXd rest = y - mean_ * ones;
  weights_ = llt.solve(rest);
  variance_ = std::max(rest.dot(weights_) / static_cast<double>(n), 1e-18);
  const double log_determinant = 2 * factor_.diagonal().array().log().sum();
  return -0.5 * (static_cast<double>(n) * std::log(variance_) + log_determinant);
}

void Kriging::fit(const std::vector<Point>& places, const std::vector<double>& values) {
  places_ = places;
  values_ = values;
  reach_.assign(ordered_.size(), 0.5);
  double best = factor();
  const auto try_all = [&](auto& setting, const auto& candidates) {
    auto kept = setting;
    for (const double candidate : candidates) {
      if (candidate == kept) continue;
      setting = candidate;
      const double likely = factor();
      if (likely > best) best = likely, kept = candidate;
    }
    setting = kept;
  };
  for (int pass = 0; pass < kPasses; ++pass) {
    for (double& reach : reach_) try_all(reach, kReaches);
    try_all(noise_, kNoises);
  }
  factor();
}

void Kriging::add(const Point& place, double value) {
  places_.push_back(place);
  values_.push_back(value);
  factor();
}

Kriging::Guess Kriging::at(const Point& place) const {
  const auto n = static_cast<Eigen::Index>(places_.size());
  Eigen::VectorXd near(n);
  for (Eigen::Index i = 0; i < n; ++i) near(i) = correlation(place, places_[i]);
  const Eigen::VectorXd half = factor_.triangularView<Eigen::Lower>().solve(near);
  return {mean_ + near.dot(weights_), std::sqrt(variance_ * std::max(0.0, 1 - half.squaredNorm()))};
}

double Kriging::expected_improvement(const Point& place, double least) const {
  const Guess guess = at(place);
  if (guess.deviation <= 0) return std::max(0.0, least - guess.mean);
  const double z = (least - guess.mean) / guess.deviation;
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
  const double below = 0.5 * std::erfc(-z / std::numbers::sqrt2);
  return guess.deviation * (z * below + density);
}

}  // namespace tutti::core
