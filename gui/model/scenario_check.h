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

/// Something that is wrong with a scenario, where a form and an editor show it.
struct PlacedProblem {
  core::Problem problem;
  core::FieldPath field;           ///< that it is about; the message around it where the schema has none
  core::ScenarioText::Range text;  ///< what to underline; empty where the problem is in another file
};

/// What is known of a scenario before anything runs.
struct Card {
  std::vector<std::pair<std::string, std::string>> facts;  ///< what, and the value in words
  enum class Binds { kNothing, kBandwidth, kLatency };
  Binds binds = Binds::kNothing;  ///< what sets the lower bound of communication
};
Card card_of(const core::Scenario& scenario);

struct CheckedScenario {
  std::vector<PlacedProblem> problems;  ///< in the order of the text
  std::optional<Card> card;             ///< if there are none
};

/// Reads a scenario as a run would, up to its plan. `path` is the file that the text is of: names of other files in it start
/// from there. Cost: as `tutti plan`; some milliseconds for the shipped ones.
CheckedScenario check_scenario(const std::string& text, const std::string& path, const core::Library& library,
                               const core::Schema& schema);

/// The same for an error that a run came back with: problems in `path` are placed, others have no place.
std::vector<PlacedProblem> placed(const core::Error& error, const std::string& path, const core::ScenarioText& text);

/// What may be written in a field of text that names things: the shipped machines, models and layer times, the algorithms.
/// `full_name` as in FieldType. Empty for all other fields.
std::vector<std::string> suggestions(const std::string& full_name, const core::Library& library);

}  // namespace tutti::gui
