#pragma once

#include <cstddef>
#include <vector>

#include <Eigen/Core>

namespace tutti::core {

/// Interpolates a function between known points and estimates the uncertainty: a Gaussian process
/// with a constant mean and the kernel v·exp(-½ Σ (d_a / l_a)²) + noise. d_a is the distance along
/// axis a. For an unordered axis, the distance is 0 if the values are equal and otherwise 1.
/// SOURCE: Rasmussen & Williams, "Gaussian Processes for Machine Learning", 2006, algorithm 2.1 and
/// section 5.4.
class Kriging {
 public:
  /// The coordinates of a point, one for each axis: 0 … 1 for an ordered axis. For an unordered
  /// axis, coordinates are only compared for equality.
  using Point = std::vector<double>;

  explicit Kriging(std::vector<bool> ordered) : ordered_(std::move(ordered)) {}

  /// Fits the length scale of each axis (l_a) and the noise by maximum likelihood. The parameters
  /// are optimized one after the other; for each of them, all values of a grid are tried. REQUIRES:
  /// at least 2 points. Cost: a few hundred Cholesky factorizations.
  void fit(const std::vector<Point>& places, const std::vector<double>& values);
  /// Adds a point without fitting the parameters again. REQUIRES: fit() was called.
  void add(const Point& place, double value);

  struct Guess {
    double mean = 0;
    double deviation = 0;  ///< standard deviation of `mean`: how uncertain the value of the
                           ///< function is, without the noise of observations
  };
  [[nodiscard]] Guess at(const Point& place) const;
  /// Returns the expected improvement over `least` at `place`, which is the mean of max(0, least -
  /// f(place)).
  /// SOURCE: Jones, Schonlau, Welch, "Efficient global optimization", 1998, equation 15.
  [[nodiscard]] double expected_improvement(const Point& place, double least) const;

  [[nodiscard]] const std::vector<double>& reach() const { return reach_; }

 private:
  [[nodiscard]] double correlation(const Point& a, const Point& b) const;
  /// Computes factor_, weights_, mean_ and variance_ from reach_ and noise_. Returns the
  /// log-likelihood of reach_ and noise_, up to a constant.
  double factor();

  std::vector<bool> ordered_;
  std::vector<Point> places_;
  std::vector<double> values_;
  std::vector<double> reach_;
  double noise_ = 1e-4;  ///< variance of the noise, relative to the variance of the function
  double mean_ = 0;
  double variance_ = 1;
  Eigen::MatrixXd factor_;
  Eigen::VectorXd weights_;
};

}  // namespace tutti::core
