#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tutti::core {

/// How a plot's axis counts. kAuto: logarithmic where its ends are far apart.
enum class Scale { kAuto, kLinear, kLogarithmic };

/// From what is drawn to where it is along an axis: 0 at its beginning, 1 at its end. Without pixels.
class PlotAxis {
 public:
  struct Tick {
    double at = 0;  ///< 0 … 1
    std::string text;
  };

  PlotAxis() = default;
  /// Returns an axis for the values of a field, as they are typed. If at most two of them are not
  /// numbers, numbers are placed by value, and the others (such as "": not set; on a logarithmic
  /// axis also 0) before them. Otherwise all values are placed side by side in their order.
  static PlotAxis of_values(const std::vector<std::string>& values, bool bytes, Scale scale);
  /// Of costs from `low` to `high`. A range that is small beside them is shown as part of a larger one, so that what is flat looks flat.
  static PlotAxis of_costs(double low, double high, Scale scale);

  /// Returns the position of value `i` of of_values().
  [[nodiscard]] double place(std::size_t i) const { return places_[i]; }
  /// Of a number.
  [[nodiscard]] double at(double number) const;
  [[nodiscard]] const std::vector<Tick>& ticks() const { return ticks_; }
  [[nodiscard]] bool logarithmic() const { return logarithmic_; }
  /// Whether numbers lie where they are, so that another scale makes a difference.
  [[nodiscard]] bool by_number() const { return by_number_; }

 private:
  void add_ticks(bool bytes);

  std::vector<double> places_;
  std::vector<Tick> ticks_;
  bool logarithmic_ = false;
  bool by_number_ = false;
  double low_ = 0, high_ = 1;  ///< numbers at the ends
  double from_ = 0;            ///< where low_ is
};

}  // namespace tutti::core
