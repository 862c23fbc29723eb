// Compares strategies that have different settings: `--over strategy=nccl,ring,pscpu`.
//
// A scenario with `algorithm: "pscpu" shards: 2` cannot be changed to nccl by its algorithm alone,
// since nccl refuses `shards`. This file finds such settings by trial: it reads the scenario with
// the alternative, and as long as the reader refuses a setting of the strategy (kConflict or
// kUnused), leaves this setting out. So the rules are those of the reader, and there is no second
// list of them. The values of other axes are tried in the same way: a value that only some
// alternatives accept is simulated only with these. With `--over strategy.shards=2,4` and two
// workers, the rows are
//
//     strategy.algorithm  strategy.shards
//     nccl                                   no shards
//     ring                2
//     ring                4
//     pscpu               2                  one shard for each worker at most

#include "core/explore/strategy_alternatives.h"

#include <algorithm>
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
const std::string kPrefix = "strategy.";

const Schema& schema() {
  static const Schema schema = Schema::scenario();
  return schema;
}

/// Values by field: "strategy.shards" → "2". An empty value leaves the field out.
using Settings = std::map<std::string, std::string>;

FieldPath path_of(const std::string& field) { return parse_override("", field + "=")->path; }

const MessageType& strategy_type() { return *schema().root().find("strategy")->message; }

/// Returns the names of the frameworks: the messages of the strategy of which only one may be set.
std::vector<std::string> framework_names() {
  std::vector<std::string> names;
  for (const FieldType& field : strategy_type().fields) {
    if (field.message != nullptr && !field.one_of.empty()) names.push_back(field.name);
  }
  return names;
}

/// A setting that the reader refuses, as a field of the scenario, and the reason.
struct Refused {
  std::string field;
  std::string why;
};

class Alternatives {
 public:
  Alternatives(const BaseOfAlternatives& base, const Library& library)
      : base_(base), library_(library), frameworks_(framework_names()) {
    const auto scenario = read_scenario(base.text, base.path, library, base.set);
    written_.emplace(scenario ? scenario->text : base.text, schema());
  }

  [[nodiscard]] bool is_framework(const std::string& name) const {
    return std::find(frameworks_.begin(), frameworks_.end(), name) != frameworks_.end();
  }
  [[nodiscard]] const std::vector<std::string>& frameworks() const { return frameworks_; }

  /// Returns the value of a field in the scenario; "{}" for a message, which keeps its fields.
  [[nodiscard]] std::string value(const std::string& field) const {
    const FieldPath path = path_of(field);
    if (written_->find(path) == nullptr) return "";
    return field_type(path)->message != nullptr ? "{}" : written_->value(path);
  }

  /// Returns the settings that select an alternative, without those that it refuses.
  Settings select(const std::string& name) {
    Settings row;
    if (is_framework(name)) {
      for (const FieldPath& excluded : excluded_by(*written_, {{"strategy", 0}, {name, 0}}))
        leave_out(row, name, {to_string(excluded), fmt::format("{} packs gradients itself", name)});
      row[kPrefix + name] = "{}";
    } else {
      row[kAlgorithm] = name;
    }
    // Each round leaves out one setting.
    for (std::size_t round = 0; round < strategy_type().fields.size(); ++round) {
      const auto refused = refused_by(row, name);
      if (!refused) break;
      leave_out(row, name, *refused);
    }
    return row;
  }

  /// Returns the reason why the reader refuses the field's value together with `row`; nullopt if it
  /// accepts the value, or refuses it for another reason than this field.
  std::optional<std::string> why_not(Settings row, const std::string& field,
                                     const std::string& tried) const {
    row[field] = tried;
    for (const Problem& problem : problems_of(row)) {
      if (excludes(problem) && field_of(problem) == field) return reason(problem.text);
    }
    return std::nullopt;
  }

  std::vector<std::string> notes;

 private:
  static bool excludes(const Problem& problem) {
    return problem.kind.code == ProblemCode::kConflict || problem.kind.code == ProblemCode::kUnused;
  }
  /// Returns "strategy.shards" for a problem of Strategy.shards; empty for other messages.
  static std::string field_of(const Problem& problem) {
    constexpr std::string_view kMessage = "Strategy.";
    if (!problem.kind.field.starts_with(kMessage)) return "";
    return kPrefix + problem.kind.field.substr(kMessage.size());
  }

  /// Returns a message of the reader without the override and the message that it is about.
  static std::string reason(const std::string& text) {
    constexpr std::string_view kMessage = "strategy: ";
    const std::size_t at = text.find(kMessage);
    return at == std::string::npos ? text : text.substr(at + kMessage.size());
  }

  std::vector<Problem> problems_of(const Settings& row) const {
    std::vector<Override> changes = base_.set;
    for (const auto& [field, value] : row)
      changes.push_back({path_of(field), value, field + "=" + value});
    const auto scenario = read_scenario(base_.text, base_.path, library_, changes);
    return scenario ? std::vector<Problem>() : scenario.error().problems();
  }

  /// Returns a setting of the scenario that the alternative refuses; nullopt if there is none.
  std::optional<Refused> refused_by(const Settings& row, const std::string& name) const {
    for (const Problem& problem : problems_of(row)) {
      if (!excludes(problem)) continue;
      std::string field = field_of(problem);
      if (field.empty()) continue;
      // A framework or an algorithm of the user's own decides on the algorithm.
      if (field == kAlgorithm && !is_framework(name)) field = decides_on_algorithm(row);
      if (field.empty() || field == kPrefix + name || row.contains(field) || value(field).empty())
        continue;
      return Refused{field, problem.text};
    }
    return std::nullopt;
  }

  std::string decides_on_algorithm(const Settings& row) const {
    std::vector<std::string> candidates = frameworks_;
    candidates.emplace_back("custom");
    for (const std::string& name : candidates) {
      if (!value(kPrefix + name).empty() && !row.contains(kPrefix + name)) return kPrefix + name;
    }
    return "";
  }

  void leave_out(Settings& row, const std::string& name, const Refused& refused) {
    row[refused.field] = "";
    notes.push_back(fmt::format("strategy={} leaves out {} of the scenario: {}", name,
                                refused.field.substr(kPrefix.size()), reason(refused.why)));
  }

  const BaseOfAlternatives& base_;
  const Library& library_;
  std::vector<std::string> frameworks_;
  std::optional<ScenarioText> written_;
};

Expected<void> check_names(const std::string& option, const std::vector<std::string>& names,
                           const std::vector<std::string>& frameworks) {
  std::vector<std::string> known = algorithm_names();
  known.insert(known.end(), frameworks.begin(), frameworks.end());
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

/// The values of a field of the strategy that each alternative accepts.
struct Accepted {
  std::string field;
  std::vector<std::vector<std::string>> values;  ///< by alternative; {""} if it accepts none
};

/// Returns nullopt if the alternatives do not differ in the values that they accept. A value that
/// none of them accepts stays with all of them, so that its points report the reason.
std::optional<Accepted> accepted(Alternatives& alternatives, const std::vector<std::string>& names,
                                 const std::vector<Settings>& selected, const Axis& axis) {
  constexpr std::size_t kMaxTrials = 10'000;
  const std::string& field = axis.fields.front();
  if (axis.fields.size() > 1 || !field.starts_with(kPrefix) || field == kAlgorithm ||
      axis.rows.size() * names.size() > kMaxTrials)
    return std::nullopt;
  Accepted found{field, std::vector<std::vector<std::string>>(names.size())};
  std::vector<std::string> notes(names.size());
  bool differ = false;
  for (const std::vector<std::string>& row : axis.rows) {
    const std::string& tried = row.front();
    std::vector<std::optional<std::string>> why;
    for (const Settings& one : selected) why.push_back(alternatives.why_not(one, field, tried));
    const bool by_none = std::all_of(why.begin(), why.end(), [](auto& w) { return w.has_value(); });
    for (std::size_t a = 0; a < names.size(); ++a) {
      if (by_none || !why[a]) {
        found.values[a].push_back(tried);
        continue;
      }
      differ = true;
      if (notes[a].empty())
        notes[a] = fmt::format("strategy={} leaves out {}={}", names[a],
                               field.substr(kPrefix.size()), tried) +
                   " and other values that it refuses: " + *why[a];
    }
  }
  if (!differ) return std::nullopt;
  for (std::size_t a = 0; a < names.size(); ++a) {
    if (found.values[a].empty()) found.values[a].emplace_back();
    if (!notes[a].empty()) alternatives.notes.push_back(notes[a]);
  }
  return found;
}

}  // namespace

Expected<StrategyAlternatives> strategy_alternatives(const std::string& option,
                                                     const std::vector<std::string>& names,
                                                     const BaseOfAlternatives& base,
                                                     const Library& library,
                                                     std::vector<Axis>& others) {
  Alternatives alternatives(base, library);
  if (auto good = check_names(option, names, alternatives.frameworks()); !good)
    return tl::make_unexpected(good.error());
  std::vector<Settings> selected;
  for (const std::string& name : names) selected.push_back(alternatives.select(name));

  // Move the axes with values that only some alternatives accept.
  std::vector<Axis> staying;
  std::vector<Accepted> moved;
  for (Axis& axis : others) {
    auto values = accepted(alternatives, names, selected, axis);
    if (values)
      moved.push_back(std::move(*values));
    else
      staying.push_back(std::move(axis));
  }

  std::vector<Settings> rows;
  for (std::size_t a = 0; a < names.size(); ++a) {
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

  StrategyAlternatives made;
  std::set<std::string> fields;
  for (const Settings& row : rows) {
    for (const auto& [field, value] : row) fields.insert(field);
  }
  for (const std::string& field : fields) {
    // A field of another axis must not be set twice.
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
  made.notes = std::move(alternatives.notes);
  others = std::move(staying);
  return made;
}

}  // namespace tutti::core
