#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <ostream>
#include <string>

#include "tools/tutti/command.h"

namespace tutti::tools {

struct InitOptions {
  std::string model = "resnet50_torchvision";
  std::string machine = "dgx1-v100";
  std::int64_t nodes = 2;
  /// The kind of network: one_switch, rails, fat_tree or dragonfly.
  std::string network = "one_switch";
  /// The kind of network link; empty: unspecified, and the user has to edit the latency in the
  /// file.
  std::string link;
  /// The algorithm; empty: nccl if the machine has GPUs, and ring otherwise. Unused if there are
  /// parameter servers.
  std::string algorithm;
  /// The number of parameter servers; 0: no servers, gradients are reduced by `algorithm`.
  std::int64_t servers = 0;
  std::string output;  ///< the output file; empty: standard output
  bool force = false;  ///< true: overwrite an existing file
  bool list = false;
  std::string format = "text";
  bool operator==(const InitOptions&) const = default;
};

/// Asks for the most important options, one question per line. Each question has a default: an
/// empty answer selects the default, "?" lists the possible names, and "<" returns to the previous
/// question. Repeats a question whose answer is invalid. Returns nullopt if the input ends.
std::optional<InitOptions> ask_for_scenario(std::istream& in, std::ostream& out,
                                            const core::Library& library);

/// Returns the text of a new scenario with a machine, a model, an algorithm and comments. Ignores
/// the options output, force, list and format. Names are not checked, so unknown names are also
/// written to the text.
std::string scenario_to_start_from(InitOptions options, const core::Library& library);

/// `tutti init`: writes a new scenario, or lists the names that a scenario can use.
int init(const InitOptions& options, const Environment& environment);

}  // namespace tutti::tools
