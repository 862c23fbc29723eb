#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/edit/field_edits.h"
#include "core/explore/strategy_alternatives.h"

namespace tutti::core {

inline const std::string kAlgorithmField = "strategy.algorithm";
/// The alternative that keeps the scenario's algorithm from a file.
inline const std::string kCustomAlternative = "custom";
inline const std::string kStrategyPrefix = "strategy.";
inline const std::string kCollectiveField = "strategy.collective";
inline const std::string kOutOfPlaceField = "strategy.out_of_place";

/// Maps fields to values: "strategy.shards" → "2". An empty value removes the field from the
/// scenario.
using StrategySettings = std::map<std::string, std::string>;

/// Returns the path of a field, such as "strategy.shards".
FieldPath strategy_field_path(const std::string& field);

/// Returns the message `strategy` of the schema.
const MessageType& strategy_type();

/// Returns the names of the frameworks, such as "horovod". In the schema, each framework is a
/// message of the strategy, and only one of these messages may be set.
std::vector<std::string> framework_names();

/// A note for the user. If `field` is not empty, the note says that this setting was removed.
struct SettingNote {
  std::string field;
  std::string text;
};

/// Selects alternative strategies in a scenario. Finds the settings that conflict with an
/// alternative by trial with the scenario's reader, and removes these settings.
class StrategySelection {
 public:
  StrategySelection(const BaseOfAlternatives& base, const Library& library);

  /// Adds to `row` the fields strategy.collective and strategy.out_of_place as the scenario's
  /// algorithm file determines them, unless the scenario sets these fields. Without these fields,
  /// another algorithm might execute another collective. REQUIRES: has_file().
  void keep_collective(StrategySettings& row) const;
  /// True if the scenario's algorithm comes from a file.
  [[nodiscard]] bool has_file() const {
    return !value(kStrategyPrefix + kCustomAlternative).empty();
  }
  [[nodiscard]] bool is_framework(const std::string& name) const {
    return std::find(frameworks_.begin(), frameworks_.end(), name) != frameworks_.end();
  }
  [[nodiscard]] const std::vector<std::string>& frameworks() const { return frameworks_; }
  /// Returns the value of a field in the scenario; "{}" if the field is a message, and "" if it is
  /// not written.
  [[nodiscard]] std::string value(const std::string& field) const;

  /// Returns the changes of the scenario that select the alternative `name` and remove all settings
  /// that conflict with it. `names` are all alternatives. `decided`: true if no other axis varies a
  /// field on which the choice of an algorithm may depend; it is then an error if the framework
  /// `name` accepts no algorithm. ERRORS: as for strategy_alternatives().
  Expected<StrategySettings> select(const std::string& option, const std::string& name,
                                    const std::vector<std::string>& names, bool decided);
  /// Returns the reason why the reader rejects the value `tried` of `field` in combination with
  /// `row`. Returns nullopt if the reader accepts the value, or if it rejects only other fields.
  std::optional<std::string> why_not(StrategySettings row, const std::string& field,
                                     const std::string& tried) const;

  std::vector<SettingNote> notes;

 private:
  /// A field of the scenario that the reader rejects, and the reason.
  struct Refused {
    std::string field;
    std::string why;
  };

  /// True if the scenario, after the changes of this row, uses the framework.
  [[nodiscard]] bool uses(const StrategySettings& row, const std::string& framework) const;
  /// Removes the settings that conflict with the alternative, one at a time; the scenario is read
  /// again after each removal.
  void remove_conflicts(StrategySettings& row, const std::string& name,
                        std::vector<SettingNote>& row_notes) const;
  std::vector<Problem> problems_of(const StrategySettings& row) const;
  /// Returns a setting of the scenario that conflicts with the alternative; nullopt if there is
  /// none.
  std::optional<Refused> refused_by(const StrategySettings& row, const std::string& name) const;
  /// Returns the framework or the algorithm file that determines the scenario's algorithm; "" if
  /// there is none.
  std::string decider_of_algorithm(const StrategySettings& row) const;
  static void remove_setting(StrategySettings& row, const std::string& name, const Refused& refused,
                             std::vector<SettingNote>& row_notes);

  const BaseOfAlternatives& base_;
  const Library& library_;
  std::vector<std::string> frameworks_;
  std::optional<ScenarioText> written_;
  /// If the scenario uses an algorithm file: the collective that this algorithm implements.
  std::optional<CollectiveKind> of_file_;
};

}  // namespace tutti::core
