#pragma once

// Options that several commands share.

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

#include "tools/tutti/options/options.h"

namespace tutti::tools {

/// Returns an error message if `path` is not UTF-8; else "". Timelines and JSON contain the
/// scenario's name and must be UTF-8.
std::string not_utf8(const std::string& path);

/// The format of a command's results.
void add_format(CLI::App* c, std::string& format);

/// The measurements by which NCCL's times are corrected.
void add_calibration(CLI::App* c, ScenarioOptions& o);
/// The scenario, and what of it is to be otherwise.
CLI::Option* add_scenario(CLI::App* c, ScenarioOptions& o, const std::string& what);

/// Adds the options that simulate and run share.
void add_execution(CLI::App* c, ExecuteOptions& o, const std::string& verb);

/// Adds the options by which the processes of a run find each other.
void add_joining(CLI::App* c, JoinOptions& o);

/// Adds the options of all commands that run for real.
void add_real(CLI::App* c, RealOptions& o);

/// Adds the options of a new scenario: its parts and its file.
void add_new_scenario(CLI::App* c, InitOptions& o);

}  // namespace tutti::tools
