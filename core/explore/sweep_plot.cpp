#include "core/explore/sweep_plot.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/number.h"
#include "core/explore/sweep_columns.h"
#include "core/text/csv.h"

namespace tutti::core {
namespace {

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

/// The selected columns of a plot, with a curve for each value of `by` (null: one curve).
struct Chosen {
  const Cost* cost;
  const SweepColumn* x;
  const SweepColumn* by;
};
Expected<Chosen> chosen_of(const std::vector<SweepColumn>& columns, const PlotOptions& options) {
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
    x = max_numbers(columns);
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
    by = few_values(columns, x);
  }
  return Chosen{cost, x, by};
}

}  // namespace

Expected<void> check(const Space& space, const PlotOptions& options) {
  const auto chosen = chosen_of(columns_of(space), options);
  if (!chosen) return tl::make_unexpected(chosen.error());
  return {};
}

Expected<Plot> plot_of(const Space& space, const std::vector<std::optional<Outcome>>& outcomes,
                       const std::string& title, const PlotOptions& options) {
  const std::vector<SweepColumn> columns = columns_of(space);
  const auto chosen = chosen_of(columns, options);
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
  bool hidden = false, any = false;
  std::optional<double> best;
  for (std::int64_t p = 0; p < space.size(); ++p) {
    const auto& outcome = outcomes[p];
    if (!outcome || outcome->status != Outcome::Status::kDone) continue;
    any = true;
    const std::vector<std::int64_t> rows = space.rows(p);
    const std::size_t at = x->of_row[rows[x->axis]];
    const std::size_t curve = by ? by->of_row[rows[by->axis]] : 0;
    const double value = to_ms((*outcome).*(cost->time));
    hidden = hidden || plot.curves[curve].y[at].has_value();
    better(plot.curves[curve].y[at], value);
    // The bounds are not known (0) if variables are on servers.
    const bool bounded = outcome->step_bound > Time();
    if (bounded && cost->time == &Outcome::step) better(bound.y[at], to_ms(outcome->step_bound));
    if (bounded && cost->time == &Outcome::communication)
      better(bound.y[at], to_ms(outcome->communication_bound));
    if (better(best, value)) plot.best = Plot::Mark{curve, at, ""};
  }
  if (!any)
    return tl::make_unexpected(Error::request(
        {ProblemCode::kMissing}, "no point has completed, so there is nothing to draw"));
  if (plot.best) {
    const std::string where = plot.x[plot.best->x];
    plot.best->text = fmt::format(
        "{:.4g} ms at {}", *best,
        where.empty() ? "not set"
                      : (plot.bytes && number_of(where) ? show_binary(*number_of(where)) : where));
  }
  plot.y_title = fmt::format("{} (ms{})", cost->title,
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
