#pragma once

// Options that several commands share.

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

#include "tools/tutti/options/options.h"

namespace tutti::tools {

/// Returns an error message if `path` is not UTF-8; otherwise "". Timelines and JSON contain the
/// name of the scenario and must be UTF-8.
std::string not_utf8(const std::string& path);
/// Returns an error message if a seed is negative or has more than 64 bits; otherwise "". Without
/// this check, CLI11 would silently use another seed.
std::string seed_problem(const std::string& number);

/// Adds --format, the format of a command's results.
void add_format(CLI::App* c, std::string& format);

/// Adds the option for measurements that correct NCCL's times.
void add_calibration(CLI::App* c, ScenarioOptions& o);
/// Adds the scenario argument, and the options that override its fields. Returns the argument.
/// `what`: the help text of the argument.
CLI::Option* add_scenario(CLI::App* c, ScenarioOptions& o, const std::string& what);

/// Adds the options that `tutti simulate` and `tutti run` share.
void add_execution(CLI::App* c, ExecuteOptions& o, const std::string& verb);

/// Adds the options with which the processes of a run find each other.
void add_joining(CLI::App* c, JoinOptions& o);

/// Adds the options of all commands that execute real runs.
void add_real(CLI::App* c, RealOptions& o);

/// Adds the options for the parts and the file of a new scenario.
void add_new_scenario(CLI::App* c, InitOptions& o);

}  // namespace tutti::tools
