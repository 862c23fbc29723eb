#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tutti::core {

/// The scale of a plot's axis. kAuto means logarithmic if the ratio of the largest to the smallest
/// value is large, and otherwise linear.
enum class Scale { kAuto, kLinear, kLogarithmic };

/// Maps values to positions along an axis, from 0 at its beginning to 1 at its end. The class does
/// not depend on the size of the plot in pixels.
class PlotAxis {
 public:
  struct Tick {
    double at = 0;  ///< position along the axis, from 0 to 1
    std::string text;
  };

  PlotAxis() = default;
  /// Returns an axis for the values of a field, as the user wrote them. The numbers among the
  /// values are placed on a linear or logarithmic scale if there are at least two different numbers
  /// and at most two values that are not numbers. Values that are not numbers, and 0 on a
  /// logarithmic axis, are then placed at the beginning of the axis. Otherwise, all values are
  /// placed at equal distances, in the given order.
  static PlotAxis of_values(const std::vector<std::string>& values, bool bytes, Scale scale);
  /// Returns an axis for costs from `low` to `high`. If `low` and `high` are almost equal, the axis
  /// shows a larger range, so that a flat curve looks flat.
  static PlotAxis of_costs(double low, double high, Scale scale);

  /// Returns the position of `values[i]`, for an axis made by of_values().
  [[nodiscard]] double place(std::size_t i) const { return places_[i]; }
  /// Returns the position of a number.
  [[nodiscard]] double at(double number) const;
  [[nodiscard]] const std::vector<Tick>& ticks() const { return ticks_; }
  [[nodiscard]] bool logarithmic() const { return logarithmic_; }
  /// True if the axis has a linear or logarithmic scale; false if its values are at equal
  /// distances.
  [[nodiscard]] bool by_number() const { return by_number_; }

 private:
  void add_ticks(bool bytes);

  std::vector<double> places_;
  std::vector<Tick> ticks_;
  bool logarithmic_ = false;
  bool by_number_ = false;
  double low_ = 0, high_ = 1;  ///< numbers at the ends of the scale
  double from_ = 0;            ///< position of low_ along the axis, 0 … 1
};

}  // namespace tutti::core
