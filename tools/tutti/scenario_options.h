#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/tf_config.h"
#include "core/edit/overrides.h"
#include "core/scenario/scenario.h"
#include "tools/tutti/command.h"

namespace tutti::tools {

/// The options of a command that select a scenario's file and override its fields.
struct ScenarioOptions {
  std::string file;
  std::vector<std::string> set;  ///< overrides, such as "strategy.shards=4"
  /// The calibration file with measured NCCL times (cluster.nccl_calibration); empty: the
  /// scenario's calibration file.
  std::string calibration;
  /// The file with TF_CONFIG, or "env" for the environment variable; empty: none. The workers in
  /// TF_CONFIG replace the workers of the scenario.
  std::string tf_config;
  /// The number of ranks to run instead of all ranks of the scenario; nullopt: all ranks.
  std::optional<std::int64_t> ranks;

  /// Returns all overrides: `set`, and the overrides that correspond to the other options.
  [[nodiscard]] std::vector<std::string> settings() const;
};

/// Parses the values of --set. ERRORS (kRequest): those of parse_override().
core::Expected<std::vector<core::Override>> settings_of(const std::vector<std::string>& set);

/// Returns the text of a scenario's file. ERRORS (kRequest): the file cannot be read; the file is a
/// sweep.
core::Expected<std::string> read_scenario_file(const std::string& path);
/// If a scenario has fields of an older format, prints a warning to stderr that lists the fields
/// and their replacements.
void warn_of_old_form(const std::string& text, const std::string& path);

/// Reads the scenario and applies the changes. ERRORS: a file cannot be read; an override is
/// invalid (core/edit/overrides.h); the scenario cannot have `options.ranks` ranks.
core::Expected<core::Scenario> load_scenario(const ScenarioOptions& options,
                                             const Environment& environment);

/// Adds all files from which the scenario was made to the list of input files (io/input_files.h).
/// These are the scenario's own file and the files that it names, including its calibration, its
/// tuner table and its execution trace. load_scenario() calls this function.
void add_inputs_of(const core::Scenario& scenario);

/// Reads TF_CONFIG from a file, or from the environment ("env"). REQUIRES: TF_CONFIG contains
/// workers that train. ERRORS: see core/cluster/tf_config.h.
core::Expected<core::TfConfig> load_tf_config(const std::string& from);

}  // namespace tutti::tools
