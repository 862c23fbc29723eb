#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/explore/plot_axis.h"
#include "gui/documents/sweep_data.h"

namespace tutti::gui {

using core::PlotAxis;
using core::Scale;

/// A cost that can be plotted.
struct SweepCost {
  const char* id;    ///< for settings and the command line: "step_time"
  const char* name;  ///< "step time"
  const char* unit;  ///< "ms", "%", ""
  bool more_is_better;
};
/// Returns the times of core::kCosts and the costs derived from them: speed-up, and share of the
/// lower bound.
const std::vector<SweepCost>& sweep_costs();
/// Returns the cost with this id; null if there is none.
const SweepCost* find_sweep_cost(const std::string& id);

/// The choice of what to plot of a sweep, and how.
struct SweepChoice {
  std::string x;                  ///< a field; "": the field with the most numbers
  std::optional<std::string> by;  ///< a line for each value of this field; "": one line; nullopt: a
                                  ///< field with few names, if any
  std::string cost = "step_time";
  std::map<std::string, std::string> only;  ///< fields fixed at one value; of other fields that are
                                            ///< not drawn, the best value is used
  Scale x_scale = Scale::kAuto, y_scale = Scale::kAuto;
  bool operator==(const SweepChoice&) const = default;
};

/// The maximum number of lines. If the field has more values, this many are drawn, evenly spaced.
inline constexpr std::size_t kMaxLines = 24;

/// A point of the plot.
struct CurvePoint {
  double x = 0, y = 0;         ///< positions along the axes, 0 … 1
  double value = 0;            ///< the cost, in its unit
  std::int64_t point = 0;      ///< index in the sweep
  std::int64_t others = 0;     ///< the number of points behind it, which are no better
  bool given_up = false;       ///< not all of its steps were run, so its cost may be higher
  std::size_t value_of_x = 0;  ///< the index of its value on the x axis
};

struct SweepCurve {
  std::string name;                ///< "ring"; "" if there is only one
  std::vector<CurvePoint> points;  ///< from left to right
};

/// The measured runs of a point: their mean, and the fastest and the slowest.
struct MeasuredDot {
  double x = 0, y = 0, low = 0, high = 0;  ///< positions along the axes
  double value = 0;
  std::size_t curve = 0;
  std::int64_t point = 0;
  int runs = 1;
  std::vector<std::string> said;
};

/// The position of a point in SweepCurves::curves.
struct CurvePlace {
  std::size_t curve = 0, index = 0;
  bool operator==(const CurvePlace&) const = default;
};

/// A sweep plotted as curves: a cost over the values of one field.
struct SweepCurves {
  std::string title;
  std::string x, by, x_title, y_title;  ///< two fields, and the axis titles
  const SweepCost* cost = nullptr;
  PlotAxis x_axis, y_axis;
  std::vector<SweepCurve> curves;
  SweepCurve bound;  ///< the lower (upper) bound; may be empty
  std::vector<MeasuredDot> measured;
  std::optional<CurvePlace> best;
  std::int64_t lines_left_out = 0;
  bool given_up = false;    ///< true if some of the drawn points are
  std::int64_t hidden = 0;  ///< the number of points behind others, over all curves

  [[nodiscard]] const CurvePoint& at(const CurvePlace& place) const {
    return curves[place.curve].points[place.index];
  }
  /// Returns where a point of the sweep is drawn; nullopt if it is not.
  [[nodiscard]] std::optional<CurvePlace> find(std::int64_t point) const;
};

/// A field of a sweep, with its values in their order.
struct SweepField {
  std::string name;
  std::vector<std::string> values;
};
std::vector<SweepField> fields_of(const SweepData& data);

/// Computes the curves. Chosen fields and costs that the sweep does not have are ignored. Cost: one
/// sort of the points.
SweepCurves curves_of(const SweepData& data, const SweepChoice& choice);

/// Formats a value of the cost: "112 ms", "1.87".
std::string shown_cost(const SweepCost& cost, double value);

/// Describes a point, in lines: its settings, its costs and its measurements.
std::string describe_point(const SweepData& data, std::int64_t point);

/// Returns the drawn points as CSV (RFC 4180), one line each.
std::string csv_of(const SweepCurves& curves, const SweepData& data);

}  // namespace tutti::gui
