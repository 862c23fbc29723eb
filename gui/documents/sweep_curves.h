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

/// A cost that can be plotted for the points of a sweep.
struct SweepCost {
  const char* id;    ///< name in settings and on the command line, such as "step_time"
  const char* name;  ///< displayed name, such as "step time"
  const char* unit;  ///< the unit: "ms", "%" or ""
  bool more_is_better;
};
/// Returns all costs: the times in core::kCosts, the speed-up, and the ratio to the lower bound.
/// The speed-up and the ratio are computed from the times.
const std::vector<SweepCost>& sweep_costs();
/// Returns the cost with this id; null if there is none.
const SweepCost* find_sweep_cost(const std::string& id);

/// The settings of a plot of a sweep: the axes, the cost and the fixed values.
struct SweepChoice {
  std::string x;  ///< the field of the x axis; "": the field with the most numeric values
  /// The field for which the plot has one line per value. "": the plot has a single line. nullopt:
  /// the plot chooses a field with few named values, or has a single line if there is no such
  /// field.
  std::optional<std::string> by;
  std::string cost = "step_time";
  /// The values of fields that are fixed by the user. For all other fields that are not drawn, the
  /// plot uses the value with the lowest cost.
  std::map<std::string, std::string> only;
  Scale x_scale = Scale::kAuto, y_scale = Scale::kAuto;
  bool operator==(const SweepChoice&) const = default;
};

/// The maximum number of lines in a plot. If the field SweepChoice::by has more values than this,
/// the plot has lines only for kMaxLines of the values, which are evenly spaced.
inline constexpr std::size_t kMaxLines = 24;

/// A point of the plot.
struct CurvePoint {
  double x = 0, y = 0;     ///< positions along the axes, from 0 to 1
  double value = 0;        ///< the cost of the point, in the unit of the cost
  std::int64_t point = 0;  ///< the index of the point in the sweep
  /// The number of other points of this curve with the same value on the x axis. They are not
  /// drawn, because this point is at least as good.
  std::int64_t others = 0;
  /// True: the simulation was stopped before its last step, so the true cost may be higher than the
  /// shown cost.
  bool given_up = false;
  std::size_t value_of_x = 0;  ///< the index of the point's value among the values of the x axis
};

struct SweepCurve {
  /// The value of the line's field, such as "ring"; "" if there is only one line.
  std::string name;
  std::vector<CurvePoint> points;  ///< the points from left to right
};

/// The measured runs of a point: their mean, and the range from the fastest to the slowest run.
struct MeasuredDot {
  double x = 0, y = 0, low = 0, high = 0;  ///< positions along the axes, from 0 to 1
  double value = 0;
  std::size_t curve = 0;
  std::int64_t point = 0;
  int runs = 1;
  std::vector<std::string> said;
};

/// Identifies a point of a plot by the index of its curve in SweepCurves::curves, and by its index
/// in the curve.
struct CurvePlace {
  std::size_t curve = 0, index = 0;
  bool operator==(const CurvePlace&) const = default;
};

/// The curves of a sweep: a cost over the values of one field.
struct SweepCurves {
  std::string title;
  std::string x, by, x_title, y_title;  ///< the two fields, and the titles of the axes
  const SweepCost* cost = nullptr;
  PlotAxis x_axis, y_axis;
  std::vector<SweepCurve> curves;
  SweepCurve bound;  ///< the lower bound of the cost (the upper bound of a speed-up); may be empty
  std::vector<MeasuredDot> measured;
  std::optional<CurvePlace> best;
  std::int64_t lines_left_out = 0;
  bool given_up = false;    ///< true if the simulation of some drawn points was stopped early
  std::int64_t hidden = 0;  ///< the sum of CurvePoint::others over all curves

  [[nodiscard]] const CurvePoint& at(const CurvePlace& place) const {
    return curves[place.curve].points[place.index];
  }
  /// Returns the position at which a point of the sweep is drawn; nullopt if the point is not
  /// drawn.
  [[nodiscard]] std::optional<CurvePlace> find(std::int64_t point) const;
};

/// A field of a sweep, with its values in order.
struct SweepField {
  std::string name;
  std::vector<std::string> values;
};
std::vector<SweepField> fields_of(const SweepData& data);

/// Computes the curves. Ignores fields and costs in `choice` that the sweep does not have. Cost:
/// sorting the points.
SweepCurves curves_of(const SweepData& data, const SweepChoice& choice);

/// Formats a value of the cost: "112 ms", "1.87".
std::string shown_cost(const SweepCost& cost, double value);

/// Returns a description of a point, in several lines: its settings, its costs and its
/// measurements.
std::string describe_point(const SweepData& data, std::int64_t point);

/// Returns the drawn points as CSV (RFC 4180), one point per line.
std::string csv_of(const SweepCurves& curves, const SweepData& data);

}  // namespace tutti::gui
