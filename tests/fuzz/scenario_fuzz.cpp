// libFuzzer target: reads any bytes as a scenario. The first character, not the name of the file,
// determines the notation (text format or JSON), so each input is read once. The bytes must be
// rejected with a message that names a place, or be read. The plan of a valid scenario must cover
// every gradient once, and a scenario of the old form must have the same meaning after conversion.
// Models and machines come from the shipped files, so that the code behind the parser is tested,
// too.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/edit/old_form_text.h"
#include "core/scenario/scenario.h"

namespace {

using namespace tutti::core;

void demand(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

void accept(const Scenario& scenario) {
  std::int64_t covered = 0;
  for (const Pack& pack : scenario.plan.packs) {
    // A pull has the same gradients as its push, so only the push is counted.
    if (pack.phase != PackPhase::kGradients || pack.answers >= 0) continue;
    for (const Member& member : pack.payload.members) {
      // Only rows of a sparse gradient are sent.
      if (!scenario.workload.gradients[member.variable].slices) covered += member.count;
    }
  }
  std::int64_t elements = 0;
  for (const Variable& gradient : scenario.workload.gradients)
    elements += gradient.slices ? 0 : gradient.elements;
  demand(covered == elements, "the plan covers every element once");
  demand(!scenario.plan.packs.empty() || scenario.workload.gradients.empty(), "a plan has packs");
}

void refuse(const Error& error) {
  demand(!error.problems().empty(), "an error has a problem");
  for (const Problem& problem : error.problems()) {
    demand(!problem.text.empty(), "a problem has a text");
    demand(problem.where.file.starts_with("fuzz") || !problem.where.file.empty(),
           "a problem names its file");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Library library(std::string(TUTTI_SOURCE_FOLDER) + "/scenarios");
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto scenario = read_scenario(text, "fuzz.textproto", library)) {
    accept(*scenario);
  } else {
    refuse(scenario.error());
  }
  if (const auto converted = convert_text(text)) {
    demand(have_equal_values(text, converted->text),
           "converting a text changes none of its values");
    demand(!convert_text(converted->text), "a converted text is in today's form");
    demand(converted->origins.size() == converted->text.size(), "every byte has an origin");
  }
  return 0;
}
