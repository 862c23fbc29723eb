#include "core/explore/joined_run.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/number.h"
#include "core/edit/field_edits.h"
#include "core/edit/old_form_text.h"
#include "core/edit/overrides.h"
#include "core/timeline/reader.h"
#include "core/timeline/summary.h"

namespace tutti::core {
namespace {

/// True for fields that are ignored when two scenarios are compared: the name, the description and
/// the settings of the run.
bool is_of_run(const std::string& field) {
  return field == "name" || field == "description" || field == "run";
}

std::string spelled(const std::string& text) {
  const auto number = number_of(text);
  return number ? fmt::format("{}", *number) : text;
}

/// Maps the path of each field that is written to its value: "cluster.workers[1].count" → "2".
using FieldValues = std::map<std::string, std::string>;

void collect(const Value& value, const std::string& path, FieldValues& values) {
  switch (value.kind) {
    case Value::Kind::kMessage: {
      std::map<std::string, int> seen;
      for (const Value::Field& field : value.fields) {
        if (path.empty() && is_of_run(field.name)) continue;
        const std::string inside = (path.empty() ? "" : path + ".") + field.name;
        if (field.value.kind == Value::Kind::kList) {
          for (const Value& item : field.value.items)
            collect(item, fmt::format("{}[{}]", inside, seen[field.name]++), values);
        } else {
          collect(field.value, fmt::format("{}[{}]", inside, seen[field.name]++), values);
        }
      }
      return;
    }
    case Value::Kind::kList: return;  // a scenario has no lists of lists
    default: values[path] = spelled(value.text);
  }
}

FieldValues values_of(const ScenarioText& text) {
  FieldValues values;
  collect(text.root(), "", values);
  return values;
}

/// True if the texts `there` and `value` mean the same value of the field. An empty text means the
/// field's default.
bool is_same(const std::string& there, const std::string& value, const FieldPath& path) {
  if (spelled(there) == spelled(value)) return true;
  const FieldType* const type = field_type(path);
  const std::string otherwise = type ? spelled(type->otherwise) : "";
  const auto meant = [&](const std::string& text) {
    return text.empty() ? otherwise : spelled(text);
  };
  return !otherwise.empty() && meant(there) == meant(value);
}

/// Returns the scenario `text` after the changes. ERRORS: a change is impossible.
Expected<std::string> changed(std::string text, const Schema& schema,
                              const std::vector<Override>& changes) {
  for (const Override& change : changes) {
    const ScenarioText now(text, schema);
    const auto edits = set_field(now, present_path(change.path, &now), change.value);
    if (!edits) return tl::make_unexpected(edits.error());
    text = with_edits(std::move(text), *edits);
  }
  return text;
}

/// The first difference between two scenarios: its path, and a description.
struct FieldDifference {
  std::string path;
  std::string text;
};
std::optional<FieldDifference> first_difference(const FieldValues& there, const FieldValues& here) {
  for (const auto& [path, value] : there) {
    const auto other = here.find(path);
    if (other == here.end())
      return FieldDifference{
          path, fmt::format("{} is unset in the run, but {} in the sweep", path, value)};
    if (other->second != value)
      return FieldDifference{path, fmt::format("{} is {} in the run, but {} in the sweep", path,
                                               other->second, value)};
  }
  for (const auto& [path, value] : here) {
    if (!there.contains(path))
      return FieldDifference{
          path, fmt::format("{} is {} in the run, but unset in the sweep", path, value)};
  }
  return std::nullopt;
}

}  // namespace

Expected<std::int64_t> point_of(const SweepInfo& info, const Space& space,
                                const std::string& run_text) {
  const Schema schema = Schema::scenario();
  const auto in_present_form = [](const std::string& any) {
    auto converted = convert_text(any);
    return converted ? std::move(converted->text) : any;
  };
  const std::string scenario_text = in_present_form(run_text);
  const ScenarioText text(scenario_text, schema);
  if (text.broken()) return tl::make_unexpected(*text.broken());
  std::vector<std::int64_t> rows;
  for (const Axis& axis : space.axes()) {
    const auto row = std::find_if(
        axis.rows.begin(), axis.rows.end(), [&](const std::vector<std::string>& values) {
          for (std::size_t f = 0; f < values.size(); ++f) {
            if (!is_same(text.value(present_path(axis.paths[f], &text)), values[f], axis.paths[f]))
              return false;
          }
          return true;
        });
    if (row == axis.rows.end()) {
      std::vector<std::string> texts;
      for (std::size_t f = 0; f < axis.fields.size(); ++f) {
        const std::string value = text.value(present_path(axis.paths[f], &text));
        texts.push_back(axis.fields[f] + (value.empty() ? " is not set" : " is " + value));
      }
      return tl::make_unexpected(
          Error::request({ProblemCode::kUnknownName, axis.fields.front()},
                         fmt::format("the settings of this run match no point of the sweep: {}",
                                     fmt::join(texts, " and "))));
    }
    rows.push_back(row - axis.rows.begin());
  }
  const std::int64_t point = space.point(rows);
  // The values of the swept fields are known to be equal, but one text may omit a default that the
  // other text states. These fields are therefore removed from both texts before the texts are
  // compared.
  std::vector<Override> varied = space.overrides(point), all;
  for (Override& change : varied) change.value.clear();
  for (const std::string& setting : info.set) {
    auto change = parse_override("set", setting);
    if (!change) return tl::make_unexpected(change.error());
    all.push_back(std::move(*change));
  }
  all.insert(all.end(), varied.begin(), varied.end());
  const auto there = changed(in_present_form(info.scenario_text), schema, all);
  const auto here = changed(scenario_text, schema, varied);
  if (!there) return tl::make_unexpected(there.error());
  if (!here) return tl::make_unexpected(here.error());
  const auto difference = first_difference(values_of(ScenarioText(*there, schema)),
                                           values_of(ScenarioText(*here, schema)));
  if (difference)
    return tl::make_unexpected(Error::request(
        {ProblemCode::kConflict, difference->path},
        "the scenario of the run differs from the scenario of the sweep: " + difference->text));
  return point;
}

Expected<JoinedRun> joined_run(const SweepInfo& info, const Space& space,
                               const std::string& timeline) {
  const auto reader = TimelineReader::open(timeline, TimelineReader::Check::kWhenRead);
  if (!reader) return tl::make_unexpected(reader.error());
  const auto wrong = [&](ProblemCode code, const std::string& what) {
    return tl::make_unexpected(Error::request({code}, what, {timeline, 0, 0}));
  };
  Summary summary;
  summary.begin(reader->run());
  for (const StepRecord& step : reader->steps()) summary.step(step);
  if (summary.info().executor.starts_with("simulated"))
    return wrong(ProblemCode::kWrongType,
                 "this timeline was simulated, not measured; record a real run with tutti run");
  if (summary.steps().empty())
    return wrong(ProblemCode::kMissing, "no training step ended in this run");
  const auto point = point_of(info, space, reader->run().scenario_text);
  if (!point)
    return tl::make_unexpected(Error::request(point.error().problems().front().kind,
                                              point.error().problems().front().text,
                                              {timeline, 0, 0}));
  const RunInfo& run = reader->run();
  return JoinedRun{*point, summary.step_time(), timeline,
                   fmt::format("{}, Tutti {}", run.executor, run.version)};
}

}  // namespace tutti::core
