#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/edit/scenario_text.h"
#include "core/scenario/library.h"
#include "core/scenario/scenario.h"

namespace tutti::gui {

/// A problem of a scenario, with its place in the form and in the text.
struct PlacedProblem {
  core::Problem problem;
  /// Field with the problem; if the schema has no such field, the message that contains it.
  core::FieldPath field;
  core::ScenarioText::Range
      text;  ///< the range to underline; empty if the problem is in another file
};

/// The summary of a scenario that is known before it runs.
struct Card {
  std::vector<std::pair<std::string, std::string>> facts;  ///< name and formatted value
  enum class Binds { kNothing, kBandwidth, kLatency };
  Binds binds = Binds::kNothing;  ///< the resource that sets the lower bound of communication
};
Card card_of(const core::Scenario& scenario);

struct CheckedScenario {
  std::vector<PlacedProblem> problems;  ///< sorted by their place in the text
  std::optional<Card> card;             ///< only if there are no problems
};

/// Reads a scenario as a run would, up to its plan. `path` is the file of the text: relative names
/// of other files in the text start from it. Cost: as `tutti plan`; a few milliseconds for the
/// shipped scenarios.
CheckedScenario check_scenario(const std::string& text, const std::string& path,
                               const core::Library& library, const core::Schema& schema);

/// Returns the places of the problems of an error that a run reported. Problems in `path` have a
/// place, others do not.
std::vector<PlacedProblem> placed(const core::Error& error, const std::string& path,
                                  const core::ScenarioText& text);

/// Returns the possible values of a text field that names something: the shipped machines, models
/// and layer times, and the algorithms. `full_name`: as in FieldType. Empty for all other fields.
std::vector<std::string> suggestions(const std::string& full_name, const core::Library& library);

}  // namespace tutti::gui
