// Finds the settings that do not apply to an alternative by trial: passes the changed scenario to
// read_scenario(), removes the setting that the reader rejects, and reads the scenario again. The
// rules for valid combinations therefore exist only in the reader.

#include "core/explore/strategy_selection.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tutti::core {
namespace {

const Schema& schema() {
  static const Schema schema = Schema::scenario();
  return schema;
}

/// The algorithms that are tried last for a framework, if it accepts neither the scenario's
/// algorithm nor any of the algorithms among the alternatives.
constexpr std::array<const char*, 2> kUsualAlgorithms{"nccl", "ring"};

bool excludes(const Problem& problem) {
  return problem.kind.code == ProblemCode::kConflict || problem.kind.code == ProblemCode::kUnused;
}

/// Returns the field that a problem is about: "strategy.shards" for Strategy.shards. Empty if the
/// problem is not about a field of the strategy.
std::string field_of(const Problem& problem) {
  constexpr std::string_view kMessage = "Strategy.";
  if (!problem.kind.field.starts_with(kMessage)) return "";
  return kStrategyPrefix + problem.kind.field.substr(kMessage.size());
}

/// Shortens an error message of the reader to the reason. Removes everything up to "strategy: "
/// at the beginning, and the hint at the end.
std::string reason(const std::string& text) {
  constexpr std::string_view kMessage = "strategy: ";
  const std::size_t at = text.find(kMessage);
  const std::string whole = at == std::string::npos ? text : text.substr(at + kMessage.size());
  return whole.substr(0, whole.rfind("; "));
}

/// True if at least one problem is about the strategy's algorithm or about `framework`.
bool about_strategy(const std::vector<Problem>& problems, const std::string& framework) {
  return std::any_of(problems.begin(), problems.end(), [&](const Problem& problem) {
    const std::string field = field_of(problem);
    return field == kAlgorithmField || field == kStrategyPrefix + framework;
  });
}

}  // namespace

FieldPath strategy_field_path(const std::string& field) {
  return parse_override("", field + "=")->path;
}

const MessageType& strategy_type() { return *schema().root().find("strategy")->message; }

std::vector<std::string> framework_names() {
  std::vector<std::string> names;
  for (const FieldType& field : strategy_type().fields) {
    if (field.message != nullptr && !field.one_of.empty()) names.push_back(field.name);
  }
  return names;
}

StrategySelection::StrategySelection(const BaseOfAlternatives& base, const Library& library)
    : base_(base), library_(library), frameworks_(framework_names()) {
  const auto scenario = read_scenario(base.text, base.path, library, base.set);
  written_.emplace(scenario ? scenario->text : base.text, schema());
  if (scenario && scenario->strategy.custom) of_file_ = scenario->strategy.collective;
}

void StrategySelection::keep_collective(StrategySettings& row) const {
  if (value(kCollectiveField).empty()) row[kCollectiveField] = collective_setting(*of_file_);
  if (!can_be_in_place(*of_file_) && value(kOutOfPlaceField).empty())
    row[kOutOfPlaceField] = "true";
}

std::string StrategySelection::value(const std::string& field) const {
  const FieldPath path = strategy_field_path(field);
  if (written_->find(path) == nullptr) return "";
  return field_type(path)->message != nullptr ? "{}" : written_->value(path);
}

Expected<StrategySettings> StrategySelection::select(const std::string& option,
                                                     const std::string& name,
                                                     const std::vector<std::string>& names,
                                                     bool decided) {
  StrategySettings row;
  std::vector<SettingNote> row_notes;
  if (name == kCustomAlternative)
    return StrategySettings{{kAlgorithmField, ""}, {kStrategyPrefix + kCustomAlternative, "{}"}};
  if (!is_framework(name)) {
    row[kAlgorithmField] = name;
    if (of_file_) keep_collective(row);
    remove_conflicts(row, name, row_notes);
    notes.insert(notes.end(), row_notes.begin(), row_notes.end());
    return row;
  }
  for (const FieldPath& excluded : excluded_by(*written_, {{"strategy", 0}, {name, 0}}))
    remove_setting(row, name, {to_string(excluded), fmt::format("{} packs gradients itself", name)},
                   row_notes);
  row[kStrategyPrefix + name] = "{}";
  const StrategySettings before = row;
  const std::vector<SettingNote> notes_before = row_notes;
  remove_conflicts(row, name, row_notes);
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
      StrategySettings tried = before;
      std::vector<SettingNote> notes_here = notes_before;
      tried[kAlgorithmField] = algorithm;
      remove_conflicts(tried, name, notes_here);
      const std::vector<Problem> problems = problems_of(tried);
      if (decided ? !problems.empty() : about_strategy(problems, name)) {
        if (!about_strategy(problems, name)) remaining = problems;
        continue;
      }
      row_notes = std::move(notes_here);
      row_notes.push_back({"", fmt::format("strategy={} uses algorithm {}", name, algorithm)});
      row = std::move(tried);
      remaining.clear();
      break;
    }
    if (!remaining.empty() && decided) {
      return tl::make_unexpected(Error::request(
          {ProblemCode::kConflict, option},
          fmt::format(
              "{} strategy={}: none of the algorithms {} is valid with {} in this scenario: {}",
              option, name, fmt::join(candidates, ", "), name, remaining.front().text)));
    }
  }
  notes.insert(notes.end(), row_notes.begin(), row_notes.end());
  return row;
}

std::optional<std::string> StrategySelection::why_not(StrategySettings row,
                                                      const std::string& field,
                                                      const std::string& tried) const {
  for (const std::string& framework : frameworks_) {
    // Setting a field of a framework that the row does not use would switch to this framework.
    if (field.starts_with(kStrategyPrefix + framework + ".") && !uses(row, framework))
      return fmt::format("this is a setting of {}", framework);
  }
  row[field] = tried;
  for (const Problem& problem : problems_of(row)) {
    if (excludes(problem) && field_of(problem) == field) return reason(problem.text);
  }
  return std::nullopt;
}

bool StrategySelection::uses(const StrategySettings& row, const std::string& framework) const {
  const auto set = row.find(kStrategyPrefix + framework);
  return set != row.end() ? !set->second.empty() : !value(kStrategyPrefix + framework).empty();
}

void StrategySelection::remove_conflicts(StrategySettings& row, const std::string& name,
                                         std::vector<SettingNote>& row_notes) const {
  for (std::size_t round = 0; round < strategy_type().fields.size(); ++round) {
    const auto refused = refused_by(row, name);
    if (!refused) break;
    remove_setting(row, name, *refused, row_notes);
  }
}

std::vector<Problem> StrategySelection::problems_of(const StrategySettings& row) const {
  std::vector<Override> changes = base_.set;
  for (const auto& [field, value] : row)
    changes.push_back({strategy_field_path(field), value, field + "=" + value});
  const auto scenario = read_scenario(base_.text, base_.path, library_, changes);
  return scenario ? std::vector<Problem>() : scenario.error().problems();
}

std::optional<StrategySelection::Refused> StrategySelection::refused_by(
    const StrategySettings& row, const std::string& name) const {
  for (const Problem& problem : problems_of(row)) {
    if (!excludes(problem)) continue;
    std::string field = field_of(problem);
    if (field.empty()) continue;
    // If a framework or an algorithm file determines the algorithm, remove the framework or the
    // file instead of the algorithm.
    if (field == kAlgorithmField && !is_framework(name)) field = decider_of_algorithm(row);
    if (field.empty() || field == kStrategyPrefix + name || row.contains(field) ||
        value(field).empty())
      continue;
    return Refused{field, problem.text};
  }
  return std::nullopt;
}

std::string StrategySelection::decider_of_algorithm(const StrategySettings& row) const {
  std::vector<std::string> candidates = frameworks_;
  candidates.push_back(kCustomAlternative);
  for (const std::string& name : candidates) {
    if (!value(kStrategyPrefix + name).empty() && !row.contains(kStrategyPrefix + name))
      return kStrategyPrefix + name;
  }
  return "";
}

void StrategySelection::remove_setting(StrategySettings& row, const std::string& name,
                                       const Refused& refused,
                                       std::vector<SettingNote>& row_notes) {
  row[refused.field] = "";
  row_notes.push_back(
      {refused.field,
       fmt::format("strategy={} is simulated without {} of the scenario: {}", name,
                   refused.field.substr(kStrategyPrefix.size()), reason(refused.why))});
}

}  // namespace tutti::core
