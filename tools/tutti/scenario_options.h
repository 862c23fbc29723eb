#pragma once

#include <string>
#include <vector>

#include "core/cluster/tf_config.h"
#include "core/edit/overrides.h"
#include "core/scenario/scenario.h"
#include "tools/tutti/command.h"

namespace tutti::tools {

/// A scenario, and what of it is to be otherwise.
struct ScenarioOptions {
  std::string file;
  std::vector<std::string> set;  ///< "strategy.shards=4"
  std::string calibration;  ///< file of measured NCCL times (cluster.nccl_calibration); empty: as the scenario says
  std::string tf_config;    ///< file, or "env": that of the environment; its workers instead of the scenario's

  /// All that is set: `set`, and what other options stand for.
  [[nodiscard]] std::vector<std::string> settings() const;
};

/// --set. ERRORS (requests): as parse_override().
core::Expected<std::vector<core::Override>> settings_of(const std::vector<std::string>& set);

/// The text of a scenario's file. ERRORS (requests): it cannot be read; it is a sweep's.
core::Expected<std::string> read_scenario_file(const std::string& path);
/// Says on stderr which fields of a scenario are of an older form, and what to write in their place; nothing if none are.
void warn_of_old_form(const std::string& text, const std::string& path);

/// Reads the scenario with its changes. ERRORS: see core/edit/overrides.h; the files.
core::Expected<core::Scenario> load_scenario(const ScenarioOptions& options, const Environment& environment);

/// TF_CONFIG from a file, or from the environment ("env"), with workers that train. ERRORS: see core/cluster/tf_config.h.
core::Expected<core::TfConfig> load_tf_config(const std::string& from);

}  // namespace tutti::tools
