#pragma once

#include <cstddef>
#include <vector>

#include <Eigen/Core>

namespace tutti::core {

/// A guess at a function between the points where it is known, and how sure it is: a Gaussian process with a constant mean and the kernel
/// v·exp(-½ Σ (d_a / l_a)²) + noise. Distances d_a are given per axis, so that axes without an order fit in: 0 or 1.
/// SOURCE: Rasmussen & Williams, "Gaussian Processes for Machine Learning", 2006, algorithm 2.1 and section 5.4.
class Kriging {
 public:
  /// A point: a place on every axis. Along an ordered axis places are 0 … 1; without an order, equal or not.
  using Place = std::vector<double>;

  explicit Kriging(std::vector<bool> ordered) : ordered_(std::move(ordered)) {}

  /// Learns how far each axis reaches (`l_a`) and the noise by the likelihood of what is known, one after the other over a grid.
  /// REQUIRES: at least 2 points. Cost: some hundred Cholesky factorizations.
  void fit(const std::vector<Place>& places, const std::vector<double>& values);
  /// Takes more points in, without learning. REQUIRES: fit().
  void add(const Place& place, double value);

  struct Guess {
    double mean = 0;
    double deviation = 0;  ///< of the function itself, without noise
  };
  [[nodiscard]] Guess at(const Place& place) const;
  /// By how much the function is expected to fall below `least` there (0 where it will not).
  /// SOURCE: Jones, Schonlau, Welch, "Efficient global optimization", 1998, equation 15.
  [[nodiscard]] double expected_improvement(const Place& place, double least) const;

  [[nodiscard]] const std::vector<double>& reach() const { return reach_; }

 private:
  [[nodiscard]] double correlation(const Place& a, const Place& b) const;
  /// The logarithm of the likelihood with these settings, but for a constant; factor_, weights_ and mean_ are then theirs.
  double factor();

  std::vector<bool> ordered_;
  std::vector<Place> places_;
  std::vector<double> values_;
  std::vector<double> reach_;
  double noise_ = 1e-4;  ///< variance, over that of the function
  double mean_ = 0;
  double variance_ = 1;
  Eigen::MatrixXd factor_;
  Eigen::VectorXd weights_;
};

}  // namespace tutti::core
