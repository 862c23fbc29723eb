#include "core/explore/sweep_plot.h"

#include <algorithm>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "core/text/csv.h"
#include "core/text/number.h"

namespace tutti::core {
namespace {

bool is_number(const std::string& text) {
  double value = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc() && stop == text.data() + text.size();
}

/// A field of the space: its axis, its place there, and its values in the order in which they come.
struct Column {
  std::size_t axis = 0, place = 0;
  std::string name;
  std::vector<std::string> values;
  std::vector<std::size_t> of_row;  ///< by row of the axis: which value
  std::size_t numbers = 0;
};

std::vector<Column> columns_of(const Space& space) {
  std::vector<Column> columns;
  for (std::size_t a = 0; a < space.axes().size(); ++a) {
    const Axis& axis = space.axes()[a];
    for (std::size_t f = 0; f < axis.fields.size(); ++f) {
      Column column{a, f, axis.fields[f], {}, {}, 0};
      std::map<std::string, std::size_t> known;
      for (const auto& row : axis.rows) {
        const auto [found, fresh] = known.try_emplace(row[f], column.values.size());
        if (fresh) column.values.push_back(row[f]);
        if (fresh && is_number(row[f])) ++column.numbers;
        column.of_row.push_back(found->second);
      }
      columns.push_back(std::move(column));
    }
  }
  return columns;
}

Expected<const Column*> find(const std::vector<Column>& columns, const std::string& option, const std::string& name) {
  std::vector<std::string> names;
  for (const Column& column : columns) {
    if (column.name == name) return &column;
    names.push_back(column.name);
  }
  return tl::make_unexpected(Error::request(fmt::format("{} {}: that does not vary here; expected one of {}{}", option,
                                                        name, fmt::join(names, ", "), did_you_mean(name, names))));
}

const Cost* find_cost(const std::string& name) {
  const auto found = std::find_if(kCosts.begin(), kCosts.end(), [&](const Cost& cost) { return name == cost.name; });
  return found == kCosts.end() ? nullptr : found;
}

/// "exposed communication".
std::string words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

}  // namespace

Expected<Plot> plot_of(const Space& space, const std::vector<std::optional<Outcome>>& outcomes,
                       const std::string& title, const PlotOptions& options) {
  const std::vector<Column> columns = columns_of(space);
  const Cost* const cost = find_cost(options.cost);
  if (!cost) {
    std::vector<std::string> names;
    for (const Cost& known : kCosts) names.emplace_back(known.name);
    return tl::make_unexpected(
        Error::request(fmt::format("--cost {}: expected one of {}", options.cost, fmt::join(names, ", "))));
  }
  const Column* x = nullptr;
  if (!options.x.empty()) {
    const auto found = find(columns, "--x", options.x);
    if (!found) return tl::make_unexpected(found.error());
    x = *found;
  } else {
    for (const Column& column : columns) {
      if (!x || column.numbers > x->numbers) x = &column;
    }
  }
  const Column* by = nullptr;
  if (!options.by.empty()) {
    const auto found = find(columns, "--by", options.by);
    if (!found) return tl::make_unexpected(found.error());
    by = *found;
    if (by == x) return tl::make_unexpected(Error::request(fmt::format("--by {}: that is what --x has", options.by)));
  } else {
    for (const Column& column : columns) {
      const bool fits = &column != x && column.values.size() > 1 && column.values.size() <= std::size_t{kMostCurves};
      // What has names rather than numbers is told apart by colours first.
      if (fits && (!by || (by->numbers > 0 && column.numbers == 0))) by = &column;
    }
  }

  Plot plot;
  plot.title = title;
  plot.x_title = x->name;
  plot.x = x->values;
  plot.bytes = x->name.find("bytes") != std::string::npos;
  const std::vector<std::string> one{""};
  const std::vector<std::string>& names = by ? by->values : one;
  for (const std::string& name : names)
    plot.curves.push_back({by ? (name.empty() ? "not set" : name) : words(cost->name),
                           std::vector<std::optional<double>>(x->values.size())});
  Curve bound{"least possible", std::vector<std::optional<double>>(x->values.size()), true};
  const auto better = [](std::optional<double>& least, double value) {
    if (!least || value < *least) return least = value, true;
    return false;
  };
  bool hidden = false, any = false;
  std::optional<double> best;
  for (std::int64_t p = 0; p < space.size(); ++p) {
    const auto& outcome = outcomes[static_cast<std::size_t>(p)];
    if (!outcome || outcome->status != Outcome::Status::kDone) continue;
    any = true;
    const std::vector<std::int64_t> rows = space.rows(p);
    const std::size_t at = x->of_row[static_cast<std::size_t>(rows[x->axis])];
    const std::size_t curve = by ? by->of_row[static_cast<std::size_t>(rows[by->axis])] : 0;
    const double value = to_ms((*outcome).*(cost->time));
    hidden = hidden || plot.curves[curve].y[at].has_value();
    better(plot.curves[curve].y[at], value);
    if (cost->time == &Outcome::step) better(bound.y[at], to_ms(outcome->step_bound));
    if (cost->time == &Outcome::communication) better(bound.y[at], to_ms(outcome->communication_bound));
    if (better(best, value)) plot.best = Plot::Mark{curve, at, ""};
  }
  if (!any) return tl::make_unexpected(Error::request("no point is done, so there is nothing to draw"));
  if (plot.best) {
    const std::string where = plot.x[plot.best->x];
    plot.best->text = fmt::format(
        "{:.4g} ms at {}", *best,
        where.empty() ? "not set" : (plot.bytes && is_number(where) ? show_binary(std::stod(where)) : where));
  }
  plot.y_title = fmt::format("{} (ms{})", words(cost->name), hidden ? ", the best of what is not drawn" : "");
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
    return tl::make_unexpected(
        Error::request(fmt::format("expected the columns \"{}\" and \"ms\"", plot.x_title), {path, 0, 0}));
  }
  Curve measured{"measured", std::vector<std::optional<double>>(plot.x.size()), false, true};
  for (const CsvTable::Row& row : table.rows) {
    const CsvTable::Cell& value = row.cells[static_cast<std::size_t>(x)];
    const CsvTable::Cell& cost = row.cells[static_cast<std::size_t>(ms)];
    const auto at = std::find(plot.x.begin(), plot.x.end(), value.text);
    if (at == plot.x.end()) {
      problems.add({path, value.at.line, value.at.column}, "\"{}\": the sweep has no point there", value.text);
    } else if (const auto read =
                   read_number(cost.text, {path, cost.at.line, cost.at.column}, "ms", 0, 1e12, problems)) {
      measured.y[static_cast<std::size_t>(at - plot.x.begin())] = *read;
    }
  }
  if (!problems.empty()) return problems.take();
  plot.curves.push_back(std::move(measured));
  return {};
}

}  // namespace tutti::core
