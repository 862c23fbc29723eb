// Compares strategies that have different settings: `--over strategy=nccl,ring,pscpu`.
//
// A scenario with `algorithm: "pscpu" shards: 2` cannot be changed to nccl by its algorithm alone,
// since nccl refuses `shards`. This file finds settings that do not apply to an alternative by
// trial: it passes the changed scenario to read_scenario(). If the reader rejects a setting of the
// strategy (kConflict or kUnused), the setting is removed, and the scenario is read again. The
// rules for valid combinations therefore exist only in the reader. The values of other axes are
// tried in the same way. A value that only some alternatives accept is combined only with these
// alternatives. With `--over strategy.shards=2,4` and two workers, the rows are
//
//     strategy.algorithm  strategy.shards
//     nccl                                   no shards
//     ring                2
//     ring                4
//     pscpu               2                  one shard for each worker at most
//
// An alternative that is a framework replaces the scenario's framework or packing settings, but
// keeps the scenario's algorithm. If the framework does not accept this algorithm (Horovod does not
// accept pscpu), or the scenario sets no algorithm (TensorFlow chooses its own), algorithms are
// tried one after the other.

#include "core/explore/strategy_alternatives.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/explore/strategy_selection.h"
#include "core/explore/strategy_trials.h"

namespace tutti::core {
namespace {

tl::unexpected<Error> stopped(const std::string& option) {
  return tl::make_unexpected(
      Error::run({ProblemCode::kStopped, option},
                 fmt::format("{} strategy: stopped before all settings were tried", option)));
}

Expected<void> check_names(const std::string& option, const std::vector<std::string>& names,
                           const StrategySelection& alternatives) {
  std::vector<std::string> known = algorithm_names();
  known.insert(known.end(), alternatives.frameworks().begin(), alternatives.frameworks().end());
  if (alternatives.has_file()) known.push_back(kCustomAlternative);
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string similar = did_you_mean(name, known);
      return tl::make_unexpected(Error::request(
          {ProblemCode::kUnknownName, option},
          fmt::format(
              "{} strategy: there is no algorithm or framework \"{}\"{}", option, name,
              similar.empty() ? fmt::format("; there are {}", fmt::join(known, ", ")) : similar)));
    }
    if (!seen.insert(name).second) {
      return tl::make_unexpected(
          Error::request({ProblemCode::kDuplicate, option},
                         fmt::format("{} strategy: {} is given twice", option, name)));
    }
  }
  return {};
}

/// True if the axis varies a field outside the strategy. Such a field may affect which values of
/// the strategy's fields are valid.
bool is_outside(const Axis& axis) {
  return std::any_of(axis.fields.begin(), axis.fields.end(),
                     [](const std::string& field) { return !field.starts_with(kStrategyPrefix); });
}

/// Returns the rows of all alternatives. Each alternative is combined with the values of the fields
/// in `moved` that it accepts.
std::vector<StrategySettings> rows_of(const std::vector<StrategySettings>& selected,
                                      const std::vector<AcceptedValues>& moved) {
  std::vector<StrategySettings> rows;
  for (std::size_t a = 0; a < selected.size(); ++a) {
    std::vector<StrategySettings> combined{selected[a]};
    for (const AcceptedValues& axis : moved) {
      std::vector<StrategySettings> more;
      for (const StrategySettings& one : combined) {
        for (const std::string& value : axis.values[a]) {
          more.push_back(one);
          more.back()[axis.field] = value;
        }
      }
      combined = std::move(more);
    }
    rows.insert(rows.end(), combined.begin(), combined.end());
  }
  return rows;
}

}  // namespace

std::string collective_setting(CollectiveKind kind) {
  const FieldType* const field = strategy_type().find("collective");
  return field->choices.at(static_cast<std::size_t>(kind)).name;
}

Expected<void> check_others(const std::string& option, const std::vector<Axis>& others) {
  for (const Axis& axis : others) {
    for (const std::string& field : axis.fields) {
      const bool table = axis.fields.size() > 1;
      if (field != kAlgorithmField && !(table && field.starts_with(kStrategyPrefix))) continue;
      return tl::make_unexpected(Error::request(
          {ProblemCode::kConflict, option},
          fmt::format("{} strategy and {} {} exclude each other; keep one of these options", option,
                      table ? "--points with the column" : option, field)));
    }
  }
  return {};
}

Expected<StrategyAlternatives> strategy_alternatives(const std::string& option,
                                                     const std::vector<std::string>& names,
                                                     const BaseOfAlternatives& base,
                                                     const Library& library,
                                                     std::vector<Axis>& others,
                                                     const TrialControl& control) {
  if (auto good = check_others(option, others); !good) return tl::make_unexpected(good.error());
  StrategySelection alternatives(base, library);
  if (auto good = check_names(option, names, alternatives); !good)
    return tl::make_unexpected(good.error());
  const bool outside = std::any_of(others.begin(), others.end(), is_outside);
  std::vector<StrategySettings> selected;
  for (const std::string& name : names) {
    if (control.stop && control.stop()) return stopped(option);
    const bool completed = std::any_of(others.begin(), others.end(), [&](const Axis& axis) {
      return axis.fields.front().starts_with(kStrategyPrefix + name + ".");
    });
    auto row = alternatives.select(option, name, names, !outside && !completed);
    if (!row) return tl::make_unexpected(row.error());
    selected.push_back(std::move(*row));
  }

  // If only some alternatives accept the values of an axis, this axis becomes a part of the axis of
  // alternatives.
  StrategyAlternatives made;
  made.axis.title = kStrategyTitle;
  std::vector<Axis> staying;
  std::vector<AcceptedValues> moved;
  StrategyTrials trials(alternatives, names, selected, control);
  const std::vector<std::string> untried = trials.choose(others);
  for (std::size_t a = 0; a < others.size(); ++a) {
    auto values = trials.is_tried(a) ? trials.accepted(others[a], outside) : std::nullopt;
    if (trials.stopped()) return stopped(option);
    if (values)
      moved.push_back(std::move(*values));
    else
      staying.push_back(others[a]);
  }

  for (const SettingNote& note : alternatives.notes) {
    const bool replaced = std::any_of(moved.begin(), moved.end(), [&](const AcceptedValues& axis) {
      return axis.field == note.field;
    });
    if (!replaced) made.notes.push_back(note.text);
  }
  for (const AcceptedValues& axis : moved)
    made.notes.insert(made.notes.end(), axis.notes.begin(), axis.notes.end());
  made.notes.insert(made.notes.end(), untried.begin(), untried.end());

  const std::vector<StrategySettings> rows = rows_of(selected, moved);
  std::set<std::string> fields;
  for (const StrategySettings& row : rows) {
    for (const auto& [field, value] : row) fields.insert(field);
  }
  for (const std::string& field : fields) {
    // Skip a field that another axis also sets.
    const bool varied = std::any_of(staying.begin(), staying.end(), [&](const Axis& axis) {
      return std::find(axis.fields.begin(), axis.fields.end(), field) != axis.fields.end();
    });
    if (varied) continue;
    made.axis.fields.push_back(field);
    made.axis.paths.push_back(strategy_field_path(field));
  }
  for (const StrategySettings& row : rows) {
    std::vector<std::string>& values = made.axis.rows.emplace_back();
    for (const std::string& field : made.axis.fields) {
      const auto set = row.find(field);
      values.push_back(set != row.end() ? set->second : alternatives.value(field));
    }
  }
  others = std::move(staying);
  return made;
}

}  // namespace tutti::core
