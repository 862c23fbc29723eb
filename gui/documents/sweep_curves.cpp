// Reduces a sweep, which is a grid over several fields, to curves: one field is the x axis, and
// each value of a second field is a line. Points of the sweep that differ only in fields other than
// these two share a position. The best point of a position is drawn, and the other points are
// counted as hidden. A completely simulated point counts as better than a point whose simulation
// was stopped, because the cost of a stopped point covers only its completed steps. A speed-up is
// relative to the leftmost point of the line, so points store times until all points are placed.
// The scales of the axes are defined in core/explore/plot_axis.h, and gui/sweep paints the plot.

#include "gui/documents/sweep_curves.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/explore/shown_values.h"
#include "core/explore/sweep_columns.h"
#include "core/text/csv.h"

namespace tutti::gui {

using core::columns_of;
using core::csv_cell;
using core::Outcome;
using core::SweepColumn;

namespace {

constexpr const char* kSpeedUp = "speed_up";
constexpr const char* kEfficiency = "share_of_least";

/// Returns the value in the cost's unit; nullopt if it is unknown.
std::optional<double> value_of(const Outcome& outcome, const std::string& cost) {
  if (outcome.status != Outcome::Status::kDone) return std::nullopt;
  if (cost == kSpeedUp) return core::to_ms(outcome.step);
  if (cost == kEfficiency) {
    if (outcome.step <= core::Time() || outcome.step_bound <= core::Time()) return std::nullopt;
    return 100.0 * static_cast<double>(outcome.step_bound.count()) /
           static_cast<double>(outcome.step.count());
  }
  for (const core::Cost& known : core::kCosts) {
    if (cost == known.name) return core::to_ms(outcome.*known.time);
  }
  return std::nullopt;
}

std::optional<double> bound_of(const Outcome& outcome, const std::string& cost) {
  const auto positive = [](core::Time t) {
    return t > core::Time() ? std::optional(core::to_ms(t)) : std::nullopt;
  };
  if (cost == "step_time") return positive(outcome.step_bound);
  if (cost == "communication") return positive(outcome.communication_bound);
  if (cost == kEfficiency) return 100;
  return std::nullopt;
}

/// Builds the curves of a plot from the points of a sweep.
class Drawing {
 public:
  Drawing(const SweepData& data, const SweepChoice& choice)
      : data_(data), choice_(choice), columns_(columns_of(*data.space)) {
    x_ = find(columns_, choice.x);
    if (!x_) x_ = max_numbers(columns_);
    if (!choice.by) {
      by_ = few_values(columns_, x_);
    } else {
      by_ = find(columns_, *choice.by);
    }
    if (by_ == x_) by_ = nullptr;
    drawn_.cost = find_sweep_cost(choice.cost);
    if (!drawn_.cost) drawn_.cost = &sweep_costs().front();
    for (const auto& [field, value] : choice.only) {
      const SweepColumn* const column = find(columns_, field);
      if (!column || column == x_ || column == by_) continue;
      const auto found = std::find(column->values.begin(), column->values.end(), value);
      if (found != column->values.end())
        only_.emplace_back(column, static_cast<std::size_t>(found - column->values.begin()));
    }
  }

  SweepCurves draw() {
    name();
    if (x_) {
      make_lines();
      place_points();
      make_relative();
      add_measured();
      add_axes();
      find_best();
    }
    return std::move(drawn_);
  }

 private:
  void name() {
    const std::string& file = data_.info.scenario_file;
    const std::size_t from = file.rfind('/') == std::string::npos ? 0 : file.rfind('/') + 1;
    drawn_.title = file.substr(
        from, file.rfind('.') == std::string::npos ? std::string::npos : file.rfind('.') - from);
    if (x_) drawn_.x = drawn_.x_title = x_->name;
    if (by_) drawn_.by = by_->name;
    for (const auto& [column, value] : only_) {
      drawn_.title +=
          fmt::format("{}{} = {}", &column == &only_.front().first ? ", with " : ", ", column->name,
                      core::shown_value(column->name, column->values[value]));
    }
  }

  /// Creates the lines of the plot, and assigns each line to a value of its field.
  void make_lines() {
    const std::size_t values = by_ ? by_->values.size() : 1;
    line_of_.assign(values, kNoLine);
    const std::size_t lines = std::min(values, kMaxLines);
    for (std::size_t i = 0; i < lines; ++i) {
      const std::size_t value = lines == 1 ? 0 : i * (values - 1) / (lines - 1);
      line_of_[value] = i;
      drawn_.curves.push_back({by_ ? core::shown_value(by_->name, by_->values[value]) : "", {}});
    }
    drawn_.lines_left_out = static_cast<std::int64_t>(values - lines);
  }

  struct Place {
    std::size_t line = 0, x = 0;
  };
  /// Returns the curve of a point and its position on the x axis; nullopt if the point is not
  /// drawn.
  [[nodiscard]] std::optional<Place> place_of(std::int64_t point) const {
    const std::vector<std::int64_t> rows = data_.space->rows(point);
    const auto value = [&](const SweepColumn& column) { return column.of_row[rows[column.axis]]; };
    for (const auto& [column, wanted] : only_) {
      if (value(*column) != wanted) return std::nullopt;
    }
    const std::size_t line = line_of_[by_ ? value(*by_) : 0];
    if (line == kNoLine) return std::nullopt;
    return Place{line, value(*x_)};
  }

  // Returns true if a larger cost is better. To be called while points still store times, not
  // speed-ups; a lower time is better.
  [[nodiscard]] bool more_is_better() const { return drawn_.cost->id == std::string(kEfficiency); }

  /// Adds the best point of each position to the curves, and the lower bound at each value of the x
  /// axis.
  void place_points() {
    struct Entry {
      Place place;
      CurvePoint point;
    };
    std::vector<Entry> entries;
    std::unordered_map<std::size_t, CurvePoint> bounds;
    for (const SweepData::Row& row : data_.rows) {
      const auto value = value_of(row.outcome, drawn_.cost->id);
      const auto place = value ? place_of(row.point) : std::nullopt;
      if (!place) continue;
      CurvePoint point;
      point.value = *value;
      point.point = row.point;
      point.given_up = row.outcome.stopped;
      point.value_of_x = place->x;
      entries.push_back({*place, point});
      if (const auto bound = bound_of(row.outcome, drawn_.cost->id)) {
        const auto [known, fresh] = bounds.try_emplace(place->x, point);
        if (fresh || *bound < known->second.value) known->second.value = *bound;
      }
    }
    const bool more = more_is_better();
    std::sort(entries.begin(), entries.end(), [more](const Entry& a, const Entry& b) {
      if (a.place.line != b.place.line) return a.place.line < b.place.line;
      if (a.place.x != b.place.x) return a.place.x < b.place.x;
      // A complete result is preferred to an incomplete one.
      if (a.point.given_up != b.point.given_up) return b.point.given_up;
      if (a.point.value != b.point.value)
        return more ? a.point.value > b.point.value : a.point.value < b.point.value;
      return a.point.point < b.point.point;
    });
    const Place* last = nullptr;
    for (const Entry& entry : entries) {
      std::vector<CurvePoint>& points = drawn_.curves[entry.place.line].points;
      if (last && last->line == entry.place.line && last->x == entry.place.x) {
        ++points.back().others;
        ++drawn_.hidden;
      } else {
        points.push_back(entry.point);
        drawn_.given_up = drawn_.given_up || entry.point.given_up;
      }
      last = &entry.place;
    }
    for (const auto& [x, point] : bounds) drawn_.bound.points.push_back(point);
    drawn_.x_axis = PlotAxis::of_values(x_->values, counts_bytes(x_->name), choice_.x_scale);
    const auto in_order = [&](SweepCurve& curve) {
      for (CurvePoint& point : curve.points) point.x = drawn_.x_axis.place(point.value_of_x);
      std::sort(curve.points.begin(), curve.points.end(),
                [](const CurvePoint& a, const CurvePoint& b) { return a.x < b.x; });
    };
    for (SweepCurve& curve : drawn_.curves) in_order(curve);
    in_order(drawn_.bound);
    drawn_.bound.name = more ? "upper bound" : "lower bound";
  }

  /// Replaces times by speed-ups relative to the line's first point.
  void make_relative() {
    if (drawn_.cost->id != std::string(kSpeedUp)) return;
    for (SweepCurve& curve : drawn_.curves) {
      const double first = curve.points.empty() ? 0 : curve.points.front().value;
      firsts_.push_back(first);
      for (CurvePoint& point : curve.points)
        point.value = point.value > 0 ? first / point.value : 0;
    }
  }

  /// Returns the plotted cost of a measured run with the step time `step`; nullopt if the cost does
  /// not follow from the step time alone.
  [[nodiscard]] std::optional<double> measured_value(core::Time step, const Place& place,
                                                     std::int64_t point) const {
    const std::string id = drawn_.cost->id;
    if (id == "step_time") return core::to_ms(step);
    if (id == kSpeedUp) return firsts_[place.line] / core::to_ms(step);
    const Outcome* const outcome = data_.outcome(point);
    if (id == kEfficiency && outcome)
      return 100 * core::to_ms(outcome->step_bound) / core::to_ms(step);
    return std::nullopt;
  }

  void add_measured() {
    for (const core::SweepStore::Measured& one : data_.measured) {
      const auto place = place_of(one.point);
      const auto value = place ? measured_value(one.step, *place, one.point) : std::nullopt;
      if (!value) continue;
      std::vector<MeasuredDot>& dots = drawn_.measured;
      // Measurements are sorted by point, so the measurements of a point are consecutive.
      const bool again = !dots.empty() && dots.back().point == one.point;
      if (!again) {
        MeasuredDot dot;
        dot.x = drawn_.x_axis.place(place->x);
        dot.curve = place->line;
        dot.point = one.point;
        dot.runs = 0;
        dot.low = dot.high = *value;
        dots.push_back(dot);
      }
      MeasuredDot& dot = dots.back();
      dot.value += (*value - dot.value) / ++dot.runs;
      dot.low = std::min(dot.low, *value);
      dot.high = std::max(dot.high, *value);
      dot.said.push_back(one.source);
    }
  }

  void add_axes() {
    double low = 0, high = 0;
    bool any = false;
    const auto take = [&](double value) {
      low = any ? std::min(low, value) : value;
      high = any ? std::max(high, value) : value;
      any = true;
    };
    for (const SweepCurve& curve : drawn_.curves) {
      for (const CurvePoint& point : curve.points) take(point.value);
    }
    for (const CurvePoint& point : drawn_.bound.points) take(point.value);
    for (const MeasuredDot& dot : drawn_.measured) take(dot.low), take(dot.high);
    drawn_.y_axis = PlotAxis::of_costs(low, high, choice_.y_scale);
    const auto place = [&](CurvePoint& point) { point.y = drawn_.y_axis.at(point.value); };
    for (SweepCurve& curve : drawn_.curves)
      std::for_each(curve.points.begin(), curve.points.end(), place);
    std::for_each(drawn_.bound.points.begin(), drawn_.bound.points.end(), place);
    for (MeasuredDot& dot : drawn_.measured) {
      dot.y = drawn_.y_axis.at(dot.value);
      dot.low = drawn_.y_axis.at(dot.low);
      dot.high = drawn_.y_axis.at(dot.high);
    }
    const SweepCost& cost = *drawn_.cost;
    drawn_.y_title = cost.name;
    if (*cost.unit) drawn_.y_title += fmt::format(" ({})", cost.unit);
    if (cost.id == std::string(kSpeedUp))
      drawn_.y_title += " relative to the first point of each line";
    if (drawn_.hidden > 0) drawn_.y_title += ", with the best values of all other fields";
  }

  void find_best() {
    const bool more = drawn_.cost->more_is_better;
    for (std::size_t c = 0; c < drawn_.curves.size(); ++c) {
      for (std::size_t i = 0; i < drawn_.curves[c].points.size(); ++i) {
        const CurvePoint& point = drawn_.curves[c].points[i];
        if (point.given_up) continue;
        if (!drawn_.best || (more ? point.value > drawn_.at(*drawn_.best).value
                                  : point.value < drawn_.at(*drawn_.best).value))
          drawn_.best = CurvePlace{c, i};
      }
    }
  }

  static constexpr std::size_t kNoLine = ~std::size_t{0};

  const SweepData& data_;
  const SweepChoice& choice_;
  std::vector<SweepColumn> columns_;
  const SweepColumn* x_ = nullptr;
  const SweepColumn* by_ = nullptr;
  std::vector<std::pair<const SweepColumn*, std::size_t>> only_;
  std::vector<std::size_t> line_of_;  ///< indexed by a value of the field that has one line per
                                      ///< value: the index of the line
  std::vector<double> firsts_;  ///< by line: the time of its leftmost point, relative to which
                                ///< speed-ups are computed
  SweepCurves drawn_;
};

}  // namespace

const std::vector<SweepCost>& sweep_costs() {
  // The most important costs for the reader come first.
  static const std::vector<SweepCost> costs = [] {
    std::vector<SweepCost> all;
    const auto add_times = [&](auto wanted) {
      for (const core::Cost& cost : core::kCosts) {
        if (wanted(cost.time)) all.push_back({cost.name, cost.title, "ms", false});
      }
    };
    const auto is_first = [](core::Time Outcome::*time) {
      return time == &Outcome::step || time == &Outcome::communication || time == &Outcome::exposed;
    };
    add_times(is_first);
    all.push_back({kSpeedUp, "speed-up", "", true});
    all.push_back({kEfficiency, "lower bound / step time", "%", true});
    add_times([&](core::Time Outcome::*time) { return !is_first(time); });
    return all;
  }();
  return costs;
}

const SweepCost* find_sweep_cost(const std::string& id) {
  const auto& costs = sweep_costs();
  const auto found = std::find_if(costs.begin(), costs.end(),
                                  [&](const SweepCost& cost) { return id == cost.id; });
  return found == costs.end() ? nullptr : &*found;
}

std::optional<CurvePlace> SweepCurves::find(std::int64_t point) const {
  for (std::size_t c = 0; c < curves.size(); ++c) {
    for (std::size_t i = 0; i < curves[c].points.size(); ++i) {
      if (curves[c].points[i].point == point) return CurvePlace{c, i};
    }
  }
  return std::nullopt;
}

std::vector<SweepField> fields_of(const SweepData& data) {
  std::vector<SweepField> fields;
  for (SweepColumn& column : columns_of(*data.space))
    fields.push_back({column.name, std::move(column.values)});
  return fields;
}

SweepCurves curves_of(const SweepData& data, const SweepChoice& choice) {
  return Drawing(data, choice).draw();
}

std::string shown_cost(const SweepCost& cost, double value) {
  if (cost.unit == std::string("ms")) return core::show(core::Time(std::llround(value * 1e9)));
  return fmt::format("{:.4g}{}{}", value, *cost.unit ? " " : "", cost.unit);
}

std::string describe_point(const SweepData& data, std::int64_t point) {
  std::string text = data.settings(point);
  const Outcome* const outcome = data.outcome(point);
  if (!outcome) return text + "\nnot done yet";
  if (outcome->status != Outcome::Status::kDone)
    return text + fmt::format("\n{}: {}", to_string(outcome->status), outcome->message);
  text +=
      fmt::format("\nstep time {}, of which {} is exposed communication; lower bound {}\n{} packs",
                  core::show(outcome->step), core::show(outcome->exposed),
                  core::show(outcome->step_bound), outcome->packs);
  if (outcome->stopped) text += "\n" + outcome->message;
  for (const core::SweepStore::Measured& one : data.measured) {
    if (one.point != point) continue;
    const double error =
        100.0 *
        (static_cast<double>(outcome->step.count()) / static_cast<double>(one.step.count()) - 1);
    text += fmt::format("\nmeasured {} ({}): predicted {:+.1f} %", core::show(one.step),
                        one.program, error);
  }
  return text;
}

std::string csv_of(const SweepCurves& curves, const SweepData& data) {
  std::string text = "point";
  for (const std::string& field : data.space->fields()) text += "," + csv_cell(field);
  text += fmt::format(",{}{}{},measured,runs\r\n", curves.cost ? curves.cost->id : "",
                      curves.cost && curves.cost->unit == std::string("ms") ? "_ms" : "", "");
  for (const SweepCurve& curve : curves.curves) {
    for (const CurvePoint& point : curve.points) {
      text += std::to_string(point.point);
      for (const std::string& value : data.space->values(point.point))
        text += "," + csv_cell(value);
      const auto dot =
          std::find_if(curves.measured.begin(), curves.measured.end(),
                       [&](const MeasuredDot& one) { return one.point == point.point; });
      const bool measured = dot != curves.measured.end();
      text += fmt::format(",{:.9g},{},{}\r\n", point.value,
                          measured ? fmt::format("{:.9g}", dot->value) : "",
                          measured ? std::to_string(dot->runs) : "");
    }
  }
  return text;
}

}  // namespace tutti::gui
