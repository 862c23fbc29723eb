#pragma once

#include <cstddef>
#include <vector>

#include <Eigen/Core>

namespace tutti::core {

/// Interpolates a function between known points, with the uncertainty: a Gaussian process with a
/// constant mean and the kernel v·exp(-½ Σ (d_a / l_a)²) + noise. Distances d_a are per axis, so
/// that unordered axes can be included: 0 or 1.
/// SOURCE: Rasmussen & Williams, "Gaussian Processes for Machine Learning", 2006, algorithm 2.1 and
/// section 5.4.
class Kriging {
 public:
  /// The coordinates of a point on every axis: 0 … 1 along an ordered axis; otherwise only equality
  /// counts.
  using Place = std::vector<double>;

  explicit Kriging(std::vector<bool> ordered) : ordered_(std::move(ordered)) {}

  /// Fits the length scale of each axis (`l_a`) and the noise by maximum likelihood, one after the
  /// other over a grid.
  /// REQUIRES: at least 2 points. Cost: some hundred Cholesky factorizations.
  void fit(const std::vector<Place>& places, const std::vector<double>& values);
  /// Adds a point without a new fit. REQUIRES: fit().
  void add(const Place& place, double value);

  struct Guess {
    double mean = 0;
    double deviation = 0;  ///< standard deviation of the function itself, without noise
  };
  [[nodiscard]] Guess at(const Place& place) const;
  /// Returns the expected amount by which the function falls below `least` there (0 if it does
  /// not).
  /// SOURCE: Jones, Schonlau, Welch, "Efficient global optimization", 1998, equation 15.
  [[nodiscard]] double expected_improvement(const Place& place, double least) const;

  [[nodiscard]] const std::vector<double>& reach() const { return reach_; }

 private:
  [[nodiscard]] double correlation(const Place& a, const Place& b) const;
  /// Returns the log-likelihood of these settings, up to a constant; sets factor_, weights_ and
  /// mean_ accordingly.
  double factor();

  std::vector<bool> ordered_;
  std::vector<Place> places_;
  std::vector<double> values_;
  std::vector<double> reach_;
  double noise_ = 1e-4;  ///< variance of the noise relative to that of the function
  double mean_ = 0;
  double variance_ = 1;
  Eigen::MatrixXd factor_;
  Eigen::VectorXd weights_;
};

}  // namespace tutti::core
