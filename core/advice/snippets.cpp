#include "core/advice/snippets.h"

#include <utility>

#include <fmt/format.h>

#include "core/advice/nccl_tuner_table.h"
#include "core/base/check.h"
#include "core/calibrate/cluster_figures.h"
#include "core/framework/registry.h"
#include "core/scenario/nccl_model.h"
#include "core/strategy/algorithm_table.h"

namespace tutti::core {
namespace {

using Language = Snippet::Language;

/// Converts a framework's setting to a snippet. The overrides with which Tutti simulates the
/// setting become the snippet's readings.
Snippet snippet_of(ProgramSetting setting) {
  Snippet made{std::move(setting.framework), Language::kPython,         std::move(setting.text),
               setting.as_simulated,         std::move(setting.remark), {}};
  switch (setting.language) {
    case ProgramSetting::Language::kPython: made.language = Language::kPython; break;
    case ProgramSetting::Language::kJson: made.language = Language::kJson; break;
    case ProgramSetting::Language::kShell: made.language = Language::kShell; break;
  }
  for (const std::vector<std::string>& fields : setting.readings) {
    std::vector<Override>& changes = made.readings.emplace_back();
    for (const std::string& field : fields) {
      auto change = parse_override("the snippet for " + made.framework + ":", field);
      TUTTI_CHECK(change.has_value(), "a field of the scenario's schema: {}", field);
      changes.push_back(std::move(*change));
    }
  }
  return made;
}

/// If the scenario determines NCCL's algorithm, protocol or channels, adds snippets that make NCCL
/// use them: environment variables, and a table for a tuner plugin.
void add_nccl(const Scenario& scenario, const Library& library, Snippets& made) {
  if (traits(scenario.strategy.algorithm).nccl != NcclPart::kAll || scenario.plan.packs.empty())
    return;
  const bool rings = !scenario.plan.collective(scenario.plan.packs.front()).nccl;
  const auto& variables = scenario.nccl.variables;
  const auto& channels = scenario.strategy.channels;
  std::string exported;
  // True if a tuner table can express the settings. A table cannot express paths and buffers.
  bool choice = channels || rings;
  for (const auto& [name, value] : variables) {
    exported += fmt::format(" {}={}", name, value);
    choice = choice || name == "NCCL_ALGO" || name == "NCCL_PROTO" || name.ends_with("_NCHANNELS");
  }
  if (rings) exported += " NCCL_ALGO=Ring NCCL_PROTO=Simple";
  if (channels)
    exported += fmt::format(" NCCL_MIN_NCHANNELS={0} NCCL_MAX_NCHANNELS={0}", *channels);
  // If NCCL makes its own choice, no environment variables are needed.
  if (channels || !variables.empty()) {
    made.list.push_back(
        {"NCCL's variables", Language::kShell, fmt::format("export{}\n", exported), true,
         "only for a quick test, because these variables affect every collective of the process"});
  }
  if (!choice) return;
  const auto table = nccl_tuner_table(scenario, library, tuner_table::Reader::kNvidiaExample);
  if (!table) {
    made.notes.push_back("no table was written for NCCL's tuner: " + table.error());
    return;
  }
  made.list.push_back({"NCCL's tuner", Language::kNcclTuner, write_table(table->table), true,
                       "for NCCL_TUNER_CONFIG_FILE, with libnccl-tuner-tutti.so or the example "
                       "tuner of NCCL 2.27.7 or later as NCCL_TUNER_PLUGIN; " +
                           table->remark});
}

}  // namespace

std::string_view to_string(Snippet::Language language) {
  switch (language) {
    case Language::kPython: return "python";
    case Language::kJson: return "json";
    case Language::kShell: return "shell";
    case Language::kNcclTuner: return "nccl tuner";
  }
  return "";
}

Snippets snippets_of(const Scenario& recommended, const Library& library) {
  Snippets made;
  const Planned planned{recommended.workload, recommended.strategy, recommended.plan};
  for (const FrameworkKind& kind : framework_kinds()) {
    if (!kind.settings) continue;
    for (ProgramSetting& setting : kind.settings(planned))
      made.list.push_back(snippet_of(std::move(setting)));
  }
  add_nccl(recommended, library, made);
  return made;
}

}  // namespace tutti::core
