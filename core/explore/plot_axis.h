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
  /// Of a field's values as they are typed. If all but two are numbers they lie where they are, with what is no number ("": not set),
  /// or 0 on a logarithmic axis, in places of their own before them; others side by side in their order.
  static PlotAxis of_values(const std::vector<std::string>& values, bool bytes, Scale scale);
  /// Of costs from `low` to `high`. A range that is small beside them is shown as part of a larger one, so that what is flat looks flat.
  static PlotAxis of_costs(double low, double high, Scale scale);

  /// Of of_values()[i].
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
