#pragma once

#include <string>
#include <vector>

#include "core/cluster/tf_config.h"
#include "core/edit/overrides.h"
#include "core/scenario/scenario.h"
#include "tools/tutti/command.h"

namespace tutti::tools {

/// A scenario's file and the changes to it.
struct ScenarioOptions {
  std::string file;
  std::vector<std::string> set;  ///< overrides, such as "strategy.shards=4"
  /// File of measured NCCL times (cluster.nccl_calibration); empty: the scenario's.
  std::string calibration;
  /// File, or "env" for the environment's TF_CONFIG; its workers replace the scenario's.
  std::string tf_config;

  /// All that is set: `set`, and what other options stand for.
  [[nodiscard]] std::vector<std::string> settings() const;
};

/// Parses the values of --set. ERRORS (requests): as parse_override().
core::Expected<std::vector<core::Override>> settings_of(const std::vector<std::string>& set);

/// Returns the text of a scenario's file. ERRORS (requests): it cannot be read; it is a sweep's.
core::Expected<std::string> read_scenario_file(const std::string& path);
/// Warns on stderr about fields of an older format, with their replacements; prints nothing if
/// there are none.
void warn_of_old_form(const std::string& text, const std::string& path);

/// Reads the scenario and applies the changes. ERRORS: see core/edit/overrides.h; a file cannot be
/// read.
core::Expected<core::Scenario> load_scenario(const ScenarioOptions& options,
                                             const Environment& environment);

/// Reads TF_CONFIG from a file or from the environment ("env"); it has to contain workers that
/// train. ERRORS: see core/cluster/tf_config.h.
core::Expected<core::TfConfig> load_tf_config(const std::string& from);

}  // namespace tutti::tools
