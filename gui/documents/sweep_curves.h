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

/// A cost of a sweep's points that can be plotted.
struct SweepCost {
  const char* id;    ///< name in settings and on the command line, such as "step_time"
  const char* name;  ///< displayed name, such as "step time"
  const char* unit;  ///< the unit: "ms", "%" or ""
  bool more_is_better;
};
/// Returns all costs: the times of core::kCosts, and the speed-up and the share of the lower bound,
/// which are derived from them.
const std::vector<SweepCost>& sweep_costs();
/// Returns the cost with this id; null if there is none.
const SweepCost* find_sweep_cost(const std::string& id);

/// The choice of a plot of a sweep.
struct SweepChoice {
  std::string x;  ///< the field of the x axis; "": the field with the most numeric values
  /// The field with one line per value; "": a single line; nullopt: a field that has few names as
  /// values, if there is one.
  std::optional<std::string> by;
  std::string cost = "step_time";
  /// The fields with a fixed value. For all other fields that are not drawn, the best value is
  /// used.
  std::map<std::string, std::string> only;
  Scale x_scale = Scale::kAuto, y_scale = Scale::kAuto;
  bool operator==(const SweepChoice&) const = default;
};

/// The maximum number of lines. If the field has more values, kMaxLines of them are drawn, evenly
/// spaced.
inline constexpr std::size_t kMaxLines = 24;

/// A point of the plot.
struct CurvePoint {
  double x = 0, y = 0;     ///< positions along the axes, from 0 to 1
  double value = 0;        ///< the cost in its unit
  std::int64_t point = 0;  ///< the index of the point in the sweep
  /// The number of points that are hidden behind this one. None of them is better.
  std::int64_t others = 0;
  /// True: the run was abandoned before its last step, so the cost may be higher.
  bool given_up = false;
  std::size_t value_of_x = 0;  ///< the index of the point's value on the x axis
};

struct SweepCurve {
  /// The value of the line's field, such as "ring"; "" if there is only one line.
  std::string name;
  std::vector<CurvePoint> points;  ///< the points from left to right
};

/// The measured runs of a point: their mean, and their range from the fastest to the slowest.
struct MeasuredDot {
  double x = 0, y = 0, low = 0, high = 0;  ///< positions along the axes, from 0 to 1
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

/// The curves of a sweep: a cost over the values of one field.
struct SweepCurves {
  std::string title;
  std::string x, by, x_title, y_title;  ///< the two fields, and the titles of the axes
  const SweepCost* cost = nullptr;
  PlotAxis x_axis, y_axis;
  std::vector<SweepCurve> curves;
  SweepCurve bound;  ///< the lower (or upper) bound of the cost; may be empty
  std::vector<MeasuredDot> measured;
  std::optional<CurvePlace> best;
  std::int64_t lines_left_out = 0;
  bool given_up = false;    ///< true if some drawn points were abandoned
  std::int64_t hidden = 0;  ///< the number of hidden points, over all curves

  [[nodiscard]] const CurvePoint& at(const CurvePlace& place) const {
    return curves[place.curve].points[place.index];
  }
  /// Returns where a point of the sweep is drawn; nullopt if it is not drawn.
  [[nodiscard]] std::optional<CurvePlace> find(std::int64_t point) const;
};

/// A field of a sweep, with its values in order.
struct SweepField {
  std::string name;
  std::vector<std::string> values;
};
std::vector<SweepField> fields_of(const SweepData& data);

/// Computes the curves. Ignores chosen fields and costs that the sweep does not have. Cost: sorting
/// the points.
SweepCurves curves_of(const SweepData& data, const SweepChoice& choice);

/// Formats a value of the cost: "112 ms", "1.87".
std::string shown_cost(const SweepCost& cost, double value);

/// Returns a description of a point, in several lines: its settings, its costs and its
/// measurements.
std::string describe_point(const SweepData& data, std::int64_t point);

/// Returns the drawn points as CSV (RFC 4180), one line per point.
std::string csv_of(const SweepCurves& curves, const SweepData& data);

}  // namespace tutti::gui
