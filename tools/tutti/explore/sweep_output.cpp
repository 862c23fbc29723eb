// Writes the results of a sweep in three forms, from outcomes that may be incomplete. CSV and JSON
// contain every completed point, for further processing. Times in the CSV file are exact to the
// picosecond. The text is for readers: the best points, the effect of each field, and the most
// frequent errors. To show the effect of a field, the text compares the field's values. Each value
// is represented by the best time of all points with this value, because an average would be
// dominated by settings that are useless in practice. Errors are grouped by message, because one
// mistake often affects thousands of points. Other files of this folder run the sweep.

#include "tools/tutti/explore/sweep_output.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "core/base/format.h"
#include "core/explore/seed_groups.h"
#include "core/explore/shown_values.h"
#include "core/text/csv.h"
#include "tools/tutti/command.h"
#include "tools/tutti/report/table.h"

namespace tutti::tools {

using core::csv_cell;
using core::Outcome;
using core::Report;
using core::show;
using core::shown_value;
using core::Time;

Report outcome_report(const Outcome& outcome) {
  Report report{{"status", to_string(outcome.status)}};
  if (outcome.status != Outcome::Status::kDone) return report.add("message", outcome.message);
  for (const core::Cost& cost : core::kCosts)
    report.add(std::string(cost.name) + "_us", outcome.*cost.time);
  return report.add("packs", outcome.packs);
}

Report settings_report(const std::vector<std::string>& fields,
                       const std::vector<std::string>& values) {
  Report report;
  for (std::size_t f = 0; f < fields.size(); ++f) report.add(fields[f], values[f]);
  return report;
}

namespace {

/// Returns the time in microseconds, with six decimals, which is exact to the picosecond.
std::string microseconds(Time time) {
  std::string text = fmt::format("{}.{:06}", time.count() / 1'000'000, time.count() % 1'000'000);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

bool done(const std::optional<Outcome>& outcome) {
  return outcome && outcome->status == Outcome::Status::kDone;
}

std::int64_t count(const Outcomes& outcomes, Outcome::Status status) {
  return std::count_if(outcomes.begin(), outcomes.end(),
                       [&](const auto& o) { return o && o->status == status; });
}

/// Returns the completed points, fastest first. Equally fast points keep the order in which the
/// space enumerates them.
std::vector<std::int64_t> by_time(const Outcomes& outcomes) {
  std::vector<std::int64_t> points;
  for (std::size_t p = 0; p < outcomes.size(); ++p) {
    if (done(outcomes[p])) points.push_back(static_cast<std::int64_t>(p));
  }
  std::stable_sort(points.begin(), points.end(), [&](std::int64_t a, std::int64_t b) {
    return outcomes[a]->step < outcomes[b]->step;
  });
  return points;
}

/// Returns the headings of the columns that show a point's fields. An axis that compares strategies
/// has one column for all its fields.
std::vector<std::string> shown_fields(const core::Space& space) {
  std::vector<std::string> headings;
  for (const core::Axis& axis : space.axes()) {
    if (!axis.title.empty())
      headings.push_back(axis.title);
    else
      headings.insert(headings.end(), axis.fields.begin(), axis.fields.end());
  }
  return headings;
}

/// Formats the values of points as the cells of these columns: "ring, horovod, shards=2" for a
/// strategy.
class ShownValues {
 public:
  explicit ShownValues(const core::Space& space) : space_(space) {
    for (const core::Axis& axis : space.axes())
      labels_.push_back(axis.title.empty() ? std::vector<std::string>() : row_labels(axis));
  }
  [[nodiscard]] std::vector<std::string> of(std::int64_t point) const {
    const std::vector<std::int64_t> rows = space_.rows(point);
    std::vector<std::string> cells;
    for (std::size_t a = 0; a < rows.size(); ++a) {
      const core::Axis& axis = space_.axes()[a];
      if (!axis.title.empty()) {
        cells.push_back(labels_[a][rows[a]]);
        continue;
      }
      for (std::size_t f = 0; f < axis.fields.size(); ++f)
        cells.push_back(shown_value(axis.fields[f], axis.rows[rows[a]][f]));
    }
    return cells;
  }

 private:
  const core::Space& space_;
  std::vector<std::vector<std::string>> labels_;  ///< the labels of strategies, by axis and row of
                                                  ///< the axis; empty for axes without a title
};

std::string best_points(const core::SweepStore& store, const Outcomes& outcomes, int rows) {
  const std::vector<std::int64_t> points = by_time(outcomes);
  if (points.empty() || rows == 0) return "";
  std::vector<std::string> headings{"step time", "exposed", "over least", "packs"};
  for (const std::string& field : shown_fields(store.space())) headings.push_back("<!" + field);
  Table table(headings);
  const ShownValues shown(store.space());
  const std::size_t listed = std::min(points.size(), static_cast<std::size_t>(rows));
  std::vector<Time> times;
  for (std::size_t i = 0; i < listed; ++i) times.push_back(outcomes[points[i]]->step);
  const std::vector<std::string> shown_times = core::show_distinct(times);
  for (std::size_t i = 0; i < listed; ++i) {
    const Outcome& o = *outcomes[points[i]];
    const double over =
        static_cast<double>(o.step.count()) / static_cast<double>(o.step_bound.count()) - 1;
    const bool bounded = o.step_bound > Time();  // there is no bound if variables are on servers
    std::vector<std::string> cells{shown_times[i], show(o.exposed),
                                   bounded ? core::show_share(std::max(0.0, over)) : "–",
                                   std::to_string(o.packs)};
    for (std::string& value : shown.of(points[i])) cells.push_back(std::move(value));
    table.row(cells);
  }
  return fmt::format("the best of {} points\n", points.size()) + table.text(2) + '\n';
}

/// The step times of points that differ only in run.seed.
struct SeedTimes {
  core::SeedGroup group;
  std::vector<Time> times;  ///< ascending
};

Time median(const SeedTimes& group) { return quantile(group.times, 2); }

/// Returns the groups of points that differ only in their seed, in ascending order of medians.
std::vector<SeedTimes> by_seed(const core::SweepStore& store, const Outcomes& outcomes,
                               std::size_t seed) {
  std::vector<SeedTimes> groups;
  for (core::SeedGroup& group : seed_groups(store.space(), outcomes, seed)) {
    SeedTimes& made = groups.emplace_back(SeedTimes{std::move(group), {}});
    for (const std::int64_t point : made.group.points) made.times.push_back(outcomes[point]->step);
    std::sort(made.times.begin(), made.times.end());
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return median(a) < median(b); });
  return groups;
}

std::vector<std::string> fields_without(const core::SweepStore& store, std::size_t seed) {
  std::vector<std::string> fields = store.space().fields();
  fields.erase(fields.begin() + seed);
  return fields;
}

/// Returns a table with the distribution of step times over the seeds, because the time of the best
/// seed alone would be misleading.
std::string over_seeds(const core::SweepStore& store, const Outcomes& outcomes, std::size_t seed,
                       int rows) {
  std::vector<SeedTimes> groups = by_seed(store, outcomes, seed);
  const std::size_t all = groups.size();
  groups.resize(std::min(all, static_cast<std::size_t>(rows)));
  if (groups.empty()) return "";
  std::vector<std::string> headings{"seeds", "median", "q1", "q3", "min", "max"};
  // Omit the column of the seed, since each row covers all seeds.
  const std::vector<std::string> fields = shown_fields(store.space());
  const std::size_t column =
      std::find(fields.begin(), fields.end(), core::kSeedField) - fields.begin();
  for (std::size_t f = 0; f < fields.size(); ++f) {
    if (f != column) headings.push_back("<!" + fields[f]);
  }
  std::vector<Time> times;
  for (const SeedTimes& group : groups) {
    for (const int quarters : {2, 1, 3, 0, 4}) times.push_back(quantile(group.times, quarters));
  }
  const std::vector<std::string> shown_times = core::show_distinct(times);
  Table table(headings);
  const ShownValues shown(store.space());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::vector<std::string> cells{std::to_string(groups[g].times.size())};
    for (std::size_t t = 0; t < 5; ++t) cells.push_back(shown_times[5 * g + t]);
    std::vector<std::string> values = shown.of(groups[g].group.points.front());
    for (std::size_t f = 0; f < values.size(); ++f) {
      if (f != column) cells.push_back(std::move(values[f]));
    }
    table.row(std::move(cells));
  }
  return fmt::format("step time over the seeds{}\n",
                     all > 1 ? fmt::format(", the best of {} settings", all) : "") +
         table.text(2) + '\n';
}

Report seed_report(const std::vector<std::string>& fields, const SeedTimes& group) {
  return {{"set", settings_report(fields, group.group.values)},
          {"seeds", group.times.size()},
          {"median_us", median(group)},
          {"lower_quartile_us", quantile(group.times, 1)},
          {"upper_quartile_us", quantile(group.times, 3)},
          {"min_us", group.times.front()},
          {"max_us", group.times.back()}};
}

/// For each value of each field, lists the best step time of all points with this value. If there
/// are several seeds, lists the best median over the seeds instead.
std::string by_field(const core::SweepStore& store, const Outcomes& outcomes) {
  const std::vector<std::string> fields = shown_fields(store.space());
  std::vector<std::map<std::string, Time>> best(fields.size());
  const ShownValues shown(store.space());
  const auto add = [&](std::int64_t point, Time time) {
    const std::vector<std::string> values = shown.of(point);
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const auto [found, fresh] = best[f].try_emplace(values[f], time);
      if (!fresh) found->second = std::min(found->second, time);
    }
  };
  if (const auto seed = seed_field(store.space())) {
    for (const SeedTimes& group : by_seed(store, outcomes, *seed))
      add(group.group.points.front(), median(group));
  } else {
    for (std::size_t p = 0; p < outcomes.size(); ++p) {
      if (done(outcomes[p])) add(static_cast<std::int64_t>(p), outcomes[p]->step);
    }
  }
  Table table({"<!field", "<!at its best", "step time", "<!at its worst", "step time"});
  for (std::size_t f = 0; f < fields.size(); ++f) {
    if (best[f].size() < 2 || fields[f] == core::kSeedField) continue;
    const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto [low, high] = std::minmax_element(best[f].begin(), best[f].end(), less);
    const std::vector<std::string> times = core::show_distinct({low->second, high->second});
    table.row({fields[f], low->first, times[0], high->first, times[1]});
  }
  const std::string text = table.text(2);
  if (std::count(text.begin(), text.end(), '\n') < 2) return "";
  return "effect of each field, with all other fields at their best values\n" + text + '\n';
}

/// Returns a summary of the points' error messages, most frequent first. Parts that identify a
/// point are removed, so that equal errors are counted together.
std::string error_summary(const core::SweepStore& store, const Outcomes& outcomes) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> messages;  // count, and first point
  for (std::size_t p = 0; p < outcomes.size(); ++p) {
    if (!outcomes[p] || done(outcomes[p])) continue;
    ++messages.try_emplace(outcomes[p]->message, 0, static_cast<std::int64_t>(p))
          .first->second.first;
  }
  if (messages.empty()) return "";
  std::vector<std::pair<std::string, std::pair<std::int64_t, std::int64_t>>> sorted(
      messages.begin(), messages.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.first > b.second.first; });
  std::string text = fmt::format(
      "points without a result: {} ({} invalid, {} failed)\n",
      count(outcomes, Outcome::Status::kRefused) + count(outcomes, Outcome::Status::kFailed),
      count(outcomes, Outcome::Status::kRefused), count(outcomes, Outcome::Status::kFailed));
  constexpr std::size_t kMax = 5;
  for (std::size_t i = 0; i < sorted.size() && i < kMax; ++i) {
    std::string at;
    const std::vector<std::string> values = store.space().values(sorted[i].second.second);
    for (std::size_t f = 0; f < values.size(); ++f)
      at += fmt::format(" {}={}", store.space().fields()[f], values[f]);
    text += fmt::format("  {} of them, for example at{}:\n    {}\n", sorted[i].second.first, at,
                        sorted[i].first);
  }
  if (sorted.size() > kMax)
    text += fmt::format("  … and {} other messages (--csv FILE writes the message of each point)\n",
                        sorted.size() - kMax);
  return text + '\n';
}

}  // namespace

void write_csv(const core::SweepStore& store, const Outcomes& outcomes, std::ostream& out) {
  out << "point";
  for (const std::string& field : store.space().fields()) out << ',' << csv_cell(field);
  out << ",status,message";
  for (const core::Cost& cost : core::kCosts) out << ',' << cost.name << "_us";
  out << ",packs,seed\r\n";
  for (std::size_t p = 0; p < outcomes.size(); ++p) {
    if (!outcomes[p]) continue;
    const Outcome& o = *outcomes[p];
    out << p;
    for (const std::string& value : store.space().values(static_cast<std::int64_t>(p)))
      out << ',' << csv_cell(value);
    out << ',' << to_string(o.status) << ',' << csv_cell(o.message);
    for (const core::Cost& cost : core::kCosts)
      out << ',' << (done(o) ? microseconds(o.*cost.time) : "");
    out << ',' << (done(o) ? std::to_string(o.packs) : "") << ','
        << (done(o) ? std::to_string(o.seed) : "") << "\r\n";
  }
}

std::string sweep_json(const core::SweepStore& store, const Outcomes& outcomes) {
  const std::vector<std::string>& fields = store.space().fields();
  std::vector<core::ReportValue> points;
  for (std::size_t p = 0; p < outcomes.size(); ++p) {
    if (!outcomes[p]) continue;
    const auto point = static_cast<std::int64_t>(p);
    Report report{{"point", point}, {"set", settings_report(fields, store.space().values(point))}};
    report.add(outcome_report(*outcomes[p]));
    if (done(outcomes[p])) report.add("seed", outcomes[p]->seed);
    points.emplace_back(std::move(report));
  }
  Report report{{"tutti_version", store.info().version},
                {"scenario_file", store.info().scenario_file},
                {"scenario_text", store.info().scenario_text},
                {"set", store.info().set},
                {"points_in_all", store.space().size()},
                {"fields", fields},
                {"points", points}};
  if (const auto seed = seed_field(store.space())) {
    const std::vector<std::string> others = fields_without(store, *seed);
    report.add("over_seeds",
               core::list_of(by_seed(store, outcomes, *seed),
                             [&](const SeedTimes& group) { return seed_report(others, group); }));
  }
  return result_json(report);
}

std::vector<std::int64_t> reported_points(const core::SweepStore& store, const Outcomes& outcomes,
                                          int rows) {
  const std::size_t listed = std::max(0, rows);
  if (const auto seed = seed_field(store.space())) {
    std::vector<std::int64_t> points;
    std::vector<SeedTimes> groups = by_seed(store, outcomes, *seed);
    groups.resize(std::min(groups.size(), listed));
    for (const SeedTimes& group : groups)
      points.insert(points.end(), group.group.points.begin(), group.group.points.end());
    return points;
  }
  std::vector<std::int64_t> points = by_time(outcomes);
  points.resize(std::min(points.size(), listed));
  return points;
}

std::string note_on_samples(const core::Space& space) {
  std::vector<std::string> different;
  for (const std::string& field : space.fields()) {
    const bool workers = field.starts_with("cluster.workers") && field.ends_with(".count");
    if (workers || field == "workload.batch" || field == "workload.micro_batches" ||
        field == "workload.model")
      different.push_back(field);
  }
  if (different.empty()) return "";
  return fmt::format(
      "{} varies, so the training steps of different points process different numbers of samples "
      "or different models; a shorter step is then not always faster training",
      fmt::join(different, " and "));
}

std::string sweep_text(const core::SweepStore& store, const Outcomes& outcomes, int rows,
                       const std::vector<std::string>& notes) {
  const auto known =
      std::count_if(outcomes.begin(), outcomes.end(), [](const auto& o) { return o.has_value(); });
  std::string text = fmt::format("{}: {} of {} points (Tutti {})\n", store.info().scenario_file,
                                 known, store.space().size(), store.info().version);
  for (const core::Axis& axis : store.info().axes)
    text += fmt::format("  {} {} of {}\n", axis.rows.size(),
                        axis.rows.size() == 1 ? "value" : "values", fmt::join(axis.fields, ", "));
  for (const std::string& setting : store.info().set) text += fmt::format("  with {}\n", setting);
  text += '\n';
  const auto seed = seed_field(store.space());
  text += seed ? over_seeds(store, outcomes, *seed, rows) : best_points(store, outcomes, rows);
  text += by_field(store, outcomes);
  text += error_summary(store, outcomes);
  text += note_lines(notes);
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace tutti::tools
