#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/explore/plot_axis.h"
#include "gui/model/sweep_data.h"

namespace tutti::gui {

using core::PlotAxis;
using core::Scale;

/// What can be drawn of a sweep.
struct SweepCost {
  const char* id;    ///< for settings and the command line: "step_time"
  const char* name;  ///< "step time"
  const char* unit;  ///< "ms", "%", ""
  bool more_is_better;
};
/// The times of core::kCosts, and what is made of them: speed-up, share of the least possible.
const std::vector<SweepCost>& sweep_costs();
/// Null if there is none of that name.
const SweepCost* find_sweep_cost(const std::string& id);

/// What of a sweep is drawn, and how.
struct SweepChoice {
  std::string x;  ///< a field; "": the one with the most numbers
  std::optional<std::string>
      by;  ///< a line for each value of this field; "": one line. Nothing: what has few names, if there is any
  std::string cost = "step_time";
  std::map<std::string, std::string>
      only;  ///< of these fields, this value alone; of others that are not drawn, the best
  Scale x_scale = Scale::kAuto, y_scale = Scale::kAuto;
  bool operator==(const SweepChoice&) const = default;
};

/// Of many values of the field with a line for each, so many, evenly.
inline constexpr std::size_t kMostLines = 24;

/// A point as it is drawn.
struct CurvePoint {
  double x = 0, y = 0;         ///< places along the axes, 0 … 1
  double value = 0;            ///< of the cost, in its unit
  std::int64_t point = 0;      ///< of the sweep
  std::int64_t others = 0;     ///< as many more lie behind it, that are no better
  bool given_up = false;       ///< not all of its steps were run: it may be worse than that
  std::size_t value_of_x = 0;  ///< which of its values
};

struct SweepCurve {
  std::string name;                ///< "ring"; "" if there is but one
  std::vector<CurvePoint> points;  ///< from the left to the right
};

/// What was measured at a point: the mean of its runs, from the fastest to the slowest.
struct MeasuredDot {
  double x = 0, y = 0, low = 0, high = 0;  ///< places along the axes
  double value = 0;
  std::size_t curve = 0;
  std::int64_t point = 0;
  int runs = 1;
  std::vector<std::string> said;
};

/// A place in SweepCurves::curves.
struct CurvePlace {
  std::size_t curve = 0, index = 0;
  bool operator==(const CurvePlace&) const = default;
};

/// A sweep as curves of a cost over the values of one field.
struct SweepCurves {
  std::string title;
  std::string x, by, x_title, y_title;  ///< fields; words
  const SweepCost* cost = nullptr;
  PlotAxis x_axis, y_axis;
  std::vector<SweepCurve> curves;
  SweepCurve bound;  ///< what is the least (the most) possible; may be empty
  std::vector<MeasuredDot> measured;
  std::optional<CurvePlace> best;
  std::int64_t lines_left_out = 0;
  bool given_up = false;    ///< some of the points that are drawn are
  std::int64_t hidden = 0;  ///< points that lie behind others, all curves together

  [[nodiscard]] const CurvePoint& at(const CurvePlace& place) const { return curves[place.curve].points[place.index]; }
  /// Where a point of the sweep is drawn; nothing if it is not.
  [[nodiscard]] std::optional<CurvePlace> find(std::int64_t point) const;
};

/// A field of a sweep with its values in the order in which they come.
struct SweepField {
  std::string name;
  std::vector<std::string> values;
};
std::vector<SweepField> fields_of(const SweepData& data);

/// Fields and costs that the sweep does not have are as if they had not been chosen. Cost: one sort of the points.
SweepCurves curves_of(const SweepData& data, const SweepChoice& choice);

/// A value of the cost as people read it: "112 ms", "1.87".
std::string shown_cost(const SweepCost& cost, double value);

/// All that is known of a point, in lines: its settings, what it costs, what was measured there.
std::string describe_point(const SweepData& data, std::int64_t point);

/// A line for each point that is drawn. RFC 4180.
std::string csv_of(const SweepCurves& curves, const SweepData& data);

}  // namespace tutti::gui
