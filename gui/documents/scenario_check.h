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

/// A problem of a scenario, with its position in the form and in the text.
struct PlacedProblem {
  core::Problem problem;
  /// The field with the problem. If the schema does not have this field, `field` is the message
  /// that contains it.
  core::FieldPath field;
  /// The range of the text to underline; empty if the problem is in another file.
  core::ScenarioText::Range text;
};

/// A summary of a scenario, computed without running the scenario.
struct Card {
  std::vector<std::pair<std::string, std::string>> facts;  ///< names and formatted values
  enum class Binds { kNothing, kBandwidth, kLatency };
  Binds binds = Binds::kNothing;  ///< the resource that sets the lower bound of communication
};
Card card_of(const core::Scenario& scenario);

struct CheckedScenario {
  std::vector<PlacedProblem> problems;  ///< problems of the scenario, sorted by their position in
                                        ///< the text
  std::optional<Card> card;  ///< summary of the scenario; set only if there are no problems
};

/// Reads a scenario and makes its plan in the same way as a run. `path`: the file of the text, to
/// which relative file names in the text refer. Cost: the same as `tutti plan`; a few milliseconds
/// for the shipped scenarios.
CheckedScenario check_scenario(const std::string& text, const std::string& path,
                               const core::Library& library, const core::Schema& schema);

/// Returns the problems of an error that a run reported. Only problems in file `path` have a
/// position in the text.
std::vector<PlacedProblem> placed(const core::Error& error, const std::string& path,
                                  const core::ScenarioText& text);

/// Returns the possible values of a text field that names a shipped machine, model or layer-times
/// file, or an algorithm; empty for all other fields. `full_name`: as in FieldType.
std::vector<std::string> suggestions(const std::string& full_name, const core::Library& library);

}  // namespace tutti::gui
