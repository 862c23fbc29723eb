#include "core/explore/sweep_plot.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/number.h"
#include "core/explore/seed_groups.h"
#include "core/explore/shown_values.h"
#include "core/explore/sweep_columns.h"
#include "core/text/csv.h"

namespace tutti::core {
namespace {

/// Returns the columns that a plot can show: one for each field, and one for each axis that has a
/// title.
std::vector<SweepColumn> plot_columns(const Space& space) {
  std::vector<SweepColumn> columns = columns_of(space);
  for (std::size_t a = 0; a < space.axes().size(); ++a) {
    const Axis& axis = space.axes()[a];
    if (axis.title.empty()) continue;
    SweepColumn column{a, axis.title, {}, {}, 0};
    for (const std::string& label : row_labels(axis)) {
      const auto known = std::find(column.values.begin(), column.values.end(), label);
      column.of_row.push_back(static_cast<std::size_t>(known - column.values.begin()));
      if (known == column.values.end()) column.values.push_back(label);
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

/// Returns the title of a column's axis; empty if the axis has none.
const std::string& title_of(const Space& space, const SweepColumn& column) {
  return space.axes()[column.axis].title;
}

/// Returns the columns among which a default is chosen. To choose the column of the x axis, pass
/// null for `x`. To choose the column of the curves, pass the column of the x axis. An axis with a
/// title is normally represented by its title and not by its fields, but a field with numbers may
/// be on the x axis.
std::vector<SweepColumn> default_columns(const Space& space,
                                         const std::vector<SweepColumn>& columns,
                                         const SweepColumn* x) {
  std::vector<SweepColumn> some;
  for (const SweepColumn& column : columns) {
    const std::string& title = title_of(space, column);
    const bool of_x = x != nullptr && x->axis == column.axis;
    bool shown = column.name != kSeedField;
    if (x == nullptr)
      shown = shown && (title.empty() || title == column.name || column.numbers > 0);
    else if (of_x && x->name == title)
      shown = &column == x;
    else if (!title.empty())
      shown = of_x ? title != column.name : title == column.name;
    if (shown) some.push_back(column);
  }
  return some.empty() ? columns : some;
}

Expected<const SweepColumn*> find(const std::vector<SweepColumn>& columns,
                                  const std::string& option, const std::string& name) {
  if (const SweepColumn* const found = core::find(columns, name)) return found;
  std::vector<std::string> names;
  for (const SweepColumn& column : columns) names.push_back(column.name);
  return tl::make_unexpected(Error::request(
      {ProblemCode::kUnknownName, option},
      fmt::format("{} {}: this field does not vary in the sweep; expected one of {}{}", option,
                  name, fmt::join(names, ", "), did_you_mean(name, names))));
}

const Cost* find_cost(const std::string& name) {
  const auto found = std::find_if(kCosts.begin(), kCosts.end(),
                                  [&](const Cost& cost) { return name == cost.name; });
  return found == kCosts.end() ? nullptr : found;
}

/// The cost and the columns that a plot shows. There is one curve for each value of `by`; if `by`
/// is null, there is only one curve.
struct Chosen {
  const Cost* cost;
  const SweepColumn* x;
  const SweepColumn* by;
};
Expected<Chosen> chosen_of(const Space& space, const std::vector<SweepColumn>& columns,
                           const PlotOptions& options) {
  const Cost* const cost = find_cost(options.cost);
  if (!cost) {
    std::vector<std::string> names;
    for (const Cost& known : kCosts) names.emplace_back(known.name);
    return tl::make_unexpected(Error::request(
        {ProblemCode::kUnknownName, "--cost"},
        fmt::format("--cost {}: expected one of {}", options.cost, fmt::join(names, ", "))));
  }
  const SweepColumn* x = nullptr;
  if (!options.x.empty()) {
    const auto found = find(columns, "--x", options.x);
    if (!found) return tl::make_unexpected(found.error());
    x = *found;
  } else {
    const std::vector<SweepColumn> some = default_columns(space, columns, nullptr);
    x = core::find(columns, max_numbers(some)->name);
  }
  const SweepColumn* by = nullptr;
  if (!options.by.empty()) {
    const auto found = find(columns, "--by", options.by);
    if (!found) return tl::make_unexpected(found.error());
    by = *found;
    if (by == x)
      return tl::make_unexpected(Error::request(
          {ProblemCode::kConflict, "--by"},
          fmt::format("--by {}: this field is already on the x axis (--x)", options.by)));
  } else {
    const std::vector<SweepColumn> some = default_columns(space, columns, x);
    const SweepColumn* const chosen = few_values(some, core::find(some, x->name));
    if (chosen != nullptr) by = core::find(columns, chosen->name);
  }
  return Chosen{cost, x, by};
}

}  // namespace

Expected<void> check(const Space& space, const PlotOptions& options) {
  const auto chosen = chosen_of(space, plot_columns(space), options);
  if (!chosen) return tl::make_unexpected(chosen.error());
  return {};
}

Expected<Plot> plot_of(const Space& space, const std::vector<std::optional<Outcome>>& outcomes,
                       const std::string& title, const PlotOptions& options) {
  const std::vector<SweepColumn> columns = plot_columns(space);
  const auto chosen = chosen_of(space, columns, options);
  if (!chosen) return tl::make_unexpected(chosen.error());
  const auto& [cost, x, by] = *chosen;

  Plot plot;
  plot.title = title;
  plot.x_title = x->name;
  plot.x = x->values;
  plot.bytes = x->name.find("bytes") != std::string::npos;
  const std::vector<std::string> one{""};
  const std::vector<std::string>& names = by ? by->values : one;
  for (const std::string& name : names)
    plot.curves.push_back({by ? (name.empty() ? "not set" : name) : cost->title,
                           std::vector<std::optional<double>>(x->values.size())});
  Curve bound{"lower bound", std::vector<std::optional<double>>(x->values.size()), true};
  const auto better = [](std::optional<double>& least, double value) {
    if (!least || value < *least) return least = value, true;
    return false;
  };
  bool hidden = false;
  std::optional<double> best;
  // A group contains the points that differ only in their seed. If no median over seeds is drawn,
  // each group has one point.
  const auto seed = seed_field(space);
  const bool medians = seed && x->name != kSeedField && !(by != nullptr && by->name == kSeedField);
  std::vector<std::vector<std::int64_t>> groups;
  if (medians) {
    for (SeedGroup& group : seed_groups(space, outcomes, *seed))
      groups.push_back(std::move(group.points));
  } else {
    for (std::int64_t p = 0; p < space.size(); ++p) {
      if (outcomes[p] && outcomes[p]->status == Outcome::Status::kDone) groups.push_back({p});
    }
  }
  for (const std::vector<std::int64_t>& group : groups) {
    const std::vector<std::int64_t> rows = space.rows(group.front());
    const std::size_t at = x->of_row[rows[x->axis]];
    const std::size_t curve = by ? by->of_row[rows[by->axis]] : 0;
    std::vector<Time> times;
    for (const std::int64_t p : group) times.push_back((*outcomes[p]).*(cost->time));
    std::sort(times.begin(), times.end());
    const double value = to_ms(quantile(times, 2));
    hidden = hidden || plot.curves[curve].y[at].has_value();
    better(plot.curves[curve].y[at], value);
    for (const std::int64_t p : group) {
      // If variables are on parameter servers, the lower bounds are unknown, and the outcome
      // contains 0.
      const Outcome& outcome = *outcomes[p];
      const bool bounded = outcome.step_bound > Time();
      if (bounded && cost->time == &Outcome::step) better(bound.y[at], to_ms(outcome.step_bound));
      if (bounded && cost->time == &Outcome::communication)
        better(bound.y[at], to_ms(outcome.communication_bound));
    }
    if (better(best, value)) plot.best = Plot::Mark{curve, at, ""};
  }
  if (groups.empty())
    return tl::make_unexpected(Error::request(
        {ProblemCode::kMissing}, "no point has completed, so there is nothing to draw"));
  if (plot.best) {
    plot.best->text =
        fmt::format("{:.4g} ms at {}", *best, shown_value(x->name, plot.x[plot.best->x]));
  }
  plot.y_title = fmt::format("{} (ms{}{})", cost->title, medians ? ", median over the seeds" : "",
                             hidden ? ", with the best values of all other fields" : "");
  if (std::any_of(bound.y.begin(), bound.y.end(), [](const auto& y) { return y.has_value(); }))
    plot.curves.push_back(std::move(bound));
  return plot;
}

Expected<void> add_measured(Plot& plot, const std::string& text, const std::string& path) {
  Problems problems;
  const CsvTable table = parse_csv(text, path, problems);
  if (!problems.empty()) return problems.take();
  const int x = table.column(plot.x_title), ms = table.column("ms");
  if (x < 0 || ms < 0) {
    return tl::make_unexpected(Error::request(
        {ProblemCode::kMissing, x < 0 ? plot.x_title : "ms"},
        fmt::format("the table must have the columns \"{}\" and \"ms\"", plot.x_title),
        {path, 0, 0}));
  }
  Curve measured{"measured", std::vector<std::optional<double>>(plot.x.size()), false, true};
  for (const CsvTable::Row& row : table.rows) {
    const CsvTable::Cell& value = row.cells[x];
    const CsvTable::Cell& cost = row.cells[ms];
    const auto at = std::find(plot.x.begin(), plot.x.end(), value.text);
    if (at == plot.x.end()) {
      problems.add({ProblemCode::kUnknownName, plot.x_title},
                   {path, value.at.line, value.at.column},
                   "\"{}\": the sweep has no point with this value", value.text);
    } else if (const auto read = read_number(cost.text, {path, cost.at.line, cost.at.column}, "ms",
                                             0, 1e12, problems)) {
      measured.y[at - plot.x.begin()] = *read;
    }
  }
  if (!problems.empty()) return problems.take();
  plot.curves.push_back(std::move(measured));
  return {};
}

}  // namespace tutti::core
