#pragma once

// Options that several commands have.

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

#include "tools/tutti/options/options.h"

namespace tutti::tools {

/// A scenario's name goes on into timelines and JSON, which take nothing but UTF-8.
std::string not_utf8(const std::string& path);

/// The format of a command's results.
void add_format(CLI::App* c, std::string& format);

/// The measurements by which NCCL's times are corrected.
void add_calibration(CLI::App* c, ScenarioOptions& o);
/// The scenario, and what of it is to be otherwise.
CLI::Option* add_scenario(CLI::App* c, ScenarioOptions& o, const std::string& what);

/// What simulate and run have in common.
void add_execution(CLI::App* c, ExecuteOptions& o, const std::string& verb);

/// How processes of one run find each other.
void add_joining(CLI::App* c, JoinOptions& o);

/// What all commands that run for real have in common.
void add_real(CLI::App* c, RealOptions& o);

/// What a new scenario is made of, and where it goes.
void add_new_scenario(CLI::App* c, InitOptions& o);

}  // namespace tutti::tools
