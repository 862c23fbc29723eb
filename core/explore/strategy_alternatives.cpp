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
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/edit/field_edits.h"

namespace tutti::core {
namespace {

const std::string kAlgorithm = "strategy.algorithm";
/// The alternative that keeps the scenario's algorithm from a file.
const std::string kCustom = "custom";
const std::string kPrefix = "strategy.";
const std::string kCollective = "strategy.collective";
const std::string kOutOfPlace = "strategy.out_of_place";

const Schema& schema() {
  static const Schema schema = Schema::scenario();
  return schema;
}

/// The algorithms that are tried last for a framework, if it accepts neither the scenario's
/// algorithm nor any of the algorithms among the alternatives.
constexpr std::array<const char*, 2> kUsualAlgorithms{"nccl", "ring"};

/// Maps fields to values: "strategy.shards" → "2". An empty value removes the field from the
/// scenario.
using Settings = std::map<std::string, std::string>;

FieldPath path_of(const std::string& field) { return parse_override("", field + "=")->path; }

const MessageType& strategy_type() { return *schema().root().find("strategy")->message; }

/// Returns the names of the frameworks. In the schema, each framework is a message of the strategy,
/// and only one of these messages may be set.
std::vector<std::string> framework_names() {
  std::vector<std::string> names;
  for (const FieldType& field : strategy_type().fields) {
    if (field.message != nullptr && !field.one_of.empty()) names.push_back(field.name);
  }
  return names;
}

/// A field of the scenario that the reader rejects, and the reason.
struct Refused {
  std::string field;
  std::string why;
};

/// A note for the user that a setting (`field`) was removed. If `field` is empty, the note is about
/// another change.
struct SettingNote {
  std::string field;
  std::string text;
};

tl::unexpected<Error> stopped(const std::string& option) {
  return tl::make_unexpected(
      Error::run({ProblemCode::kStopped, option},
                 fmt::format("{} strategy: stopped before all settings were tried", option)));
}

class Alternatives {
 public:
  Alternatives(const BaseOfAlternatives& base, const Library& library)
      : base_(base), library_(library), frameworks_(framework_names()) {
    const auto scenario = read_scenario(base.text, base.path, library, base.set);
    written_.emplace(scenario ? scenario->text : base.text, schema());
    if (scenario && scenario->strategy.custom) of_file_ = scenario->strategy.collective;
  }

  /// Sets the collective that the scenario leaves to its file.
  void keep_collective(Settings& row) const {
    if (value(kCollective).empty()) row[kCollective] = collective_setting(*of_file_);
    if (!can_be_in_place(*of_file_) && value(kOutOfPlace).empty()) row[kOutOfPlace] = "true";
  }

  /// True if the scenario's algorithm comes from a file.
  [[nodiscard]] bool has_file() const { return !value(kPrefix + kCustom).empty(); }

  [[nodiscard]] bool is_framework(const std::string& name) const {
    return std::find(frameworks_.begin(), frameworks_.end(), name) != frameworks_.end();
  }
  [[nodiscard]] const std::vector<std::string>& frameworks() const { return frameworks_; }

  /// Returns the value of a field in the scenario; "{}" if the field is a message, and "" if it is
  /// not written.
  [[nodiscard]] std::string value(const std::string& field) const {
    const FieldPath path = path_of(field);
    if (written_->find(path) == nullptr) return "";
    return field_type(path)->message != nullptr ? "{}" : written_->value(path);
  }

  /// Returns the changes of the scenario that select an alternative and remove all settings that
  /// conflict with it. If `decided` is true, a framework that accepts no algorithm is an error. If
  /// `decided` is false, other axes may make an algorithm acceptable. ERRORS: as for
  /// strategy_alternatives().
  Expected<Settings> select(const std::string& option, const std::string& name,
                            const std::vector<std::string>& names, bool decided) {
    Settings row;
    std::vector<SettingNote> said;
    if (name == kCustom) return Settings{{kAlgorithm, ""}, {kPrefix + kCustom, "{}"}};
    if (!is_framework(name)) {
      row[kAlgorithm] = name;
      if (of_file_) keep_collective(row);
      settle(row, name, said);
      notes.insert(notes.end(), said.begin(), said.end());
      return row;
    }
    for (const FieldPath& excluded : excluded_by(*written_, {{"strategy", 0}, {name, 0}}))
      leave_out(row, name, {to_string(excluded), fmt::format("{} packs gradients itself", name)},
                said);
    row[kPrefix + name] = "{}";
    const Settings before = row;
    const std::vector<SettingNote> said_before = said;
    settle(row, name, said);
    std::vector<Problem> remaining = problems_of(row);
    if (about_strategy(remaining, name)) {
      std::vector<std::string> candidates;
      for (const std::string& other : names) {
        if (!is_framework(other)) candidates.push_back(other);
      }
      for (const char* const usual : kUsualAlgorithms) {
        if (std::find(candidates.begin(), candidates.end(), usual) == candidates.end())
          candidates.emplace_back(usual);
      }
      for (const std::string& algorithm : candidates) {
        Settings tried = before;
        std::vector<SettingNote> said_here = said_before;
        tried[kAlgorithm] = algorithm;
        settle(tried, name, said_here);
        const std::vector<Problem> problems = problems_of(tried);
        if (decided ? !problems.empty() : about_strategy(problems, name)) {
          if (!about_strategy(problems, name)) remaining = problems;
          continue;
        }
        said = std::move(said_here);
        said.push_back({"", fmt::format("strategy={} uses algorithm {}", name, algorithm)});
        row = std::move(tried);
        remaining.clear();
        break;
      }
      if (!remaining.empty() && decided) {
        return tl::make_unexpected(Error::request(
            {ProblemCode::kConflict, option},
            fmt::format("{} strategy={}: no algorithm of {} is valid with {} in this scenario: {}",
                        option, name, fmt::join(candidates, ", "), name, remaining.front().text)));
      }
    }
    notes.insert(notes.end(), said.begin(), said.end());
    return row;
  }

  /// Returns the reason why the reader rejects the value `tried` of `field` in combination with
  /// `row`. Returns nullopt if the reader accepts the value, or if it rejects only other fields.
  std::optional<std::string> why_not(Settings row, const std::string& field,
                                     const std::string& tried) const {
    for (const std::string& framework : frameworks_) {
      // Setting a field of a framework that the row does not use would switch to this framework.
      if (field.starts_with(kPrefix + framework + ".") && !uses(row, framework))
        return fmt::format("this is a setting of {}", framework);
    }
    row[field] = tried;
    for (const Problem& problem : problems_of(row)) {
      if (excludes(problem) && field_of(problem) == field) return reason(problem.text);
    }
    return std::nullopt;
  }

  std::vector<SettingNote> notes;

 private:
  static bool excludes(const Problem& problem) {
    return problem.kind.code == ProblemCode::kConflict || problem.kind.code == ProblemCode::kUnused;
  }
  /// Returns the field that a problem is about: "strategy.shards" for Strategy.shards. Empty if the
  /// problem is not about a field of the strategy.
  static std::string field_of(const Problem& problem) {
    constexpr std::string_view kMessage = "Strategy.";
    if (!problem.kind.field.starts_with(kMessage)) return "";
    return kPrefix + problem.kind.field.substr(kMessage.size());
  }

  /// Shortens an error message of the reader to the reason. Removes everything up to "strategy: "
  /// at the beginning, and the hint at the end.
  static std::string reason(const std::string& text) {
    constexpr std::string_view kMessage = "strategy: ";
    const std::size_t at = text.find(kMessage);
    const std::string whole = at == std::string::npos ? text : text.substr(at + kMessage.size());
    return whole.substr(0, whole.rfind("; "));
  }

  /// True if the scenario, after the changes of this row, uses the framework.
  [[nodiscard]] bool uses(const Settings& row, const std::string& framework) const {
    const auto set = row.find(kPrefix + framework);
    return set != row.end() ? !set->second.empty() : !value(kPrefix + framework).empty();
  }

  /// True if at least one problem is about the strategy's algorithm or about `framework`.
  static bool about_strategy(const std::vector<Problem>& problems, const std::string& framework) {
    return std::any_of(problems.begin(), problems.end(), [&](const Problem& problem) {
      const std::string field = field_of(problem);
      return field == kAlgorithm || field == kPrefix + framework;
    });
  }

  /// Removes the settings that conflict with the alternative, one in each round.
  void settle(Settings& row, const std::string& name, std::vector<SettingNote>& said) const {
    for (std::size_t round = 0; round < strategy_type().fields.size(); ++round) {
      const auto refused = refused_by(row, name);
      if (!refused) break;
      leave_out(row, name, *refused, said);
    }
  }

  std::vector<Problem> problems_of(const Settings& row) const {
    std::vector<Override> changes = base_.set;
    for (const auto& [field, value] : row)
      changes.push_back({path_of(field), value, field + "=" + value});
    const auto scenario = read_scenario(base_.text, base_.path, library_, changes);
    return scenario ? std::vector<Problem>() : scenario.error().problems();
  }

  /// Returns a setting of the scenario that conflicts with the alternative; nullopt if there is
  /// none.
  std::optional<Refused> refused_by(const Settings& row, const std::string& name) const {
    for (const Problem& problem : problems_of(row)) {
      if (!excludes(problem)) continue;
      std::string field = field_of(problem);
      if (field.empty()) continue;
      // If a framework or an algorithm file determines the algorithm, remove the framework or the
      // file instead of the algorithm.
      if (field == kAlgorithm && !is_framework(name)) field = decides_on_algorithm(row);
      if (field.empty() || field == kPrefix + name || row.contains(field) || value(field).empty())
        continue;
      return Refused{field, problem.text};
    }
    return std::nullopt;
  }

  std::string decides_on_algorithm(const Settings& row) const {
    std::vector<std::string> candidates = frameworks_;
    candidates.push_back(kCustom);
    for (const std::string& name : candidates) {
      if (!value(kPrefix + name).empty() && !row.contains(kPrefix + name)) return kPrefix + name;
    }
    return "";
  }

  static void leave_out(Settings& row, const std::string& name, const Refused& refused,
                        std::vector<SettingNote>& said) {
    row[refused.field] = "";
    said.push_back(
        {refused.field, fmt::format("strategy={} leaves out {} of the scenario: {}", name,
                                    refused.field.substr(kPrefix.size()), reason(refused.why))});
  }

  const BaseOfAlternatives& base_;
  const Library& library_;
  std::vector<std::string> frameworks_;
  std::optional<ScenarioText> written_;
  std::optional<CollectiveKind> of_file_;  ///< the collective of the scenario's file, if any
};

Expected<void> check_names(const std::string& option, const std::vector<std::string>& names,
                           const Alternatives& alternatives) {
  std::vector<std::string> known = algorithm_names();
  known.insert(known.end(), alternatives.frameworks().begin(), alternatives.frameworks().end());
  if (alternatives.has_file()) known.push_back(kCustom);
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return tl::make_unexpected(Error::request(
          {ProblemCode::kUnknownName, option},
          fmt::format("{} strategy: there is no algorithm or framework \"{}\"{}; there are {}",
                      option, name, did_you_mean(name, known), fmt::join(known, ", "))));
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
                     [](const std::string& field) { return !field.starts_with(kPrefix); });
}

/// A field of the strategy, with the values that each alternative accepts.
struct Accepted {
  std::string field;
  std::vector<std::vector<std::string>> values;  ///< the accepted values, by alternative; {""} if
                                                 ///< the alternative accepts none
  std::vector<std::string> notes;
};

/// Formats values for a note: "2, 4 and 98 more".
std::string shown_list(const std::vector<std::string>& values) {
  constexpr std::size_t kMax = 5;
  const std::vector<std::string> first(
      values.begin(), values.begin() + static_cast<std::ptrdiff_t>(std::min(values.size(), kMax)));
  return fmt::format("{}", fmt::join(first, ", ")) +
         (values.size() > kMax ? fmt::format(" and {} more", values.size() - kMax) : "");
}

/// Finds out by trial which alternatives accept which values of the other axes. Each trial reads
/// the scenario once.
class Trials {
 public:
  Trials(const Alternatives& alternatives, const std::vector<std::string>& names,
         const std::vector<Settings>& selected, const TrialControl& control)
      : alternatives_(alternatives), names_(names), selected_(selected), control_(control) {}

  /// Chooses the axes whose values are tried, so that there are at most kMaxTrials trials. Returns
  /// a note for each axis that has too many values.
  std::vector<std::string> choose(const std::vector<Axis>& axes) {
    std::vector<std::string> notes;
    for (const Axis& axis : axes) {
      const std::string& field = axis.fields.front();
      bool tried = axis.fields.size() == 1 && field.starts_with(kPrefix);
      const std::size_t needed = axis.rows.size() * names_.size();
      if (tried && all_ + needed > kMaxTrials) {
        tried = false;
        notes.push_back(
            fmt::format("every strategy is simulated with all {} values of {}, because at most {} "
                        "combinations of strategy and value are tried beforehand",
                        axis.rows.size(), field, kMaxTrials));
      }
      if (tried) all_ += needed;
      tried_.push_back(tried);
    }
    return notes;
  }
  [[nodiscard]] bool is_tried(std::size_t axis) const { return tried_[axis]; }

  /// Returns, for each alternative, the values of the axis that it accepts; nullopt if every
  /// alternative accepts all values of the axis, or if the trials were stopped. `outside`: true if
  /// another axis varies a field outside the strategy.
  std::optional<Accepted> accepted(const Axis& axis, bool outside) {
    const std::string& field = axis.fields.front();
    // Reasons by alternative and value; nullopt if the value is accepted.
    std::vector<std::vector<std::optional<std::string>>> why;
    for (const Settings& one : selected_) {
      auto& reasons = why.emplace_back();
      for (const std::vector<std::string>& row : axis.rows) {
        if (control_.stop && control_.stop()) stopped_ = true;
        if (stopped_) return std::nullopt;
        reasons.push_back(alternatives_.why_not(one, field, row.front()));
        if (control_.progress)
          control_.progress(static_cast<double>(++done_) / static_cast<double>(all_));
      }
    }
    const auto accepts = [&](std::size_t a) {
      return std::any_of(why[a].begin(), why[a].end(), [](const auto& w) { return !w; });
    };
    bool any_accepts = false;
    for (std::size_t a = 0; a < names_.size(); ++a) any_accepts = any_accepts || accepts(a);
    Accepted found{field, std::vector<std::vector<std::string>>(names_.size()), {}};
    bool differ = false;
    for (std::size_t a = 0; a < names_.size(); ++a) {
      std::vector<std::string> left_out;
      std::string reason;
      if (!accepts(a)) found.values[a].emplace_back();
      differ = differ || !accepts(a);
      for (std::size_t v = 0; v < axis.rows.size(); ++v) {
        const bool by_none =
            std::all_of(why.begin(), why.end(), [&](const auto& w) { return w[v].has_value(); });
        const bool stays = accepts(a) ? !why[a][v] || outside || by_none : !any_accepts;
        if (stays) {
          found.values[a].push_back(axis.rows[v].front());
          continue;
        }
        if (left_out.empty()) reason = *why[a][v];
        left_out.push_back(axis.rows[v].front());
      }
      if (left_out.empty()) continue;
      differ = true;
      found.notes.push_back(fmt::format("strategy={} leaves out {}={}: {}", names_[a],
                                        field.substr(kPrefix.size()), shown_list(left_out),
                                        reason));
    }
    return differ ? std::optional(std::move(found)) : std::nullopt;
  }

  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  const Alternatives& alternatives_;
  const std::vector<std::string>& names_;
  const std::vector<Settings>& selected_;
  const TrialControl& control_;
  std::vector<bool> tried_;
  std::size_t all_ = 0, done_ = 0;
  bool stopped_ = false;
};

/// Returns the rows of all alternatives. Each alternative is combined with the values of the fields
/// in `moved` that it accepts.
std::vector<Settings> rows_of(const std::vector<Settings>& selected,
                              const std::vector<Accepted>& moved) {
  std::vector<Settings> rows;
  for (std::size_t a = 0; a < selected.size(); ++a) {
    std::vector<Settings> combined{selected[a]};
    for (const Accepted& axis : moved) {
      std::vector<Settings> more;
      for (const Settings& one : combined) {
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
      if (field != kAlgorithm && !(table && field.starts_with(kPrefix))) continue;
      return tl::make_unexpected(
          Error::request({ProblemCode::kConflict, option},
                         fmt::format("{} strategy and {} {} exclude each other; keep one", option,
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
  Alternatives alternatives(base, library);
  if (auto good = check_names(option, names, alternatives); !good)
    return tl::make_unexpected(good.error());
  const bool outside = std::any_of(others.begin(), others.end(), is_outside);
  std::vector<Settings> selected;
  for (const std::string& name : names) {
    if (control.stop && control.stop()) return stopped(option);
    const bool completed = std::any_of(others.begin(), others.end(), [&](const Axis& axis) {
      return axis.fields.front().starts_with(kPrefix + name + ".");
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
  std::vector<Accepted> moved;
  Trials trials(alternatives, names, selected, control);
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
    const bool replaced = std::any_of(
        moved.begin(), moved.end(), [&](const Accepted& axis) { return axis.field == note.field; });
    if (!replaced) made.notes.push_back(note.text);
  }
  for (const Accepted& axis : moved)
    made.notes.insert(made.notes.end(), axis.notes.begin(), axis.notes.end());
  made.notes.insert(made.notes.end(), untried.begin(), untried.end());

  const std::vector<Settings> rows = rows_of(selected, moved);
  std::set<std::string> fields;
  for (const Settings& row : rows) {
    for (const auto& [field, value] : row) fields.insert(field);
  }
  for (const std::string& field : fields) {
    // Skip a field that another axis also sets.
    const bool varied = std::any_of(staying.begin(), staying.end(), [&](const Axis& axis) {
      return std::find(axis.fields.begin(), axis.fields.end(), field) != axis.fields.end();
    });
    if (varied) continue;
    made.axis.fields.push_back(field);
    made.axis.paths.push_back(path_of(field));
  }
  for (const Settings& row : rows) {
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
