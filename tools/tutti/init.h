#pragma once

#include <cstdint>
#include <string>

#include "tools/tutti/command.h"

namespace tutti::tools {

struct InitOptions {
  std::string model = "resnet50_torchvision";
  std::string machine = "dgx1-v100";
  std::int64_t nodes = 2;
  /// Kind of network: one_switch, rails, fat_tree or dragonfly.
  std::string network = "one_switch";
  std::string link;       ///< a kind of network link; empty: the user has to edit the latency
  std::string algorithm;  ///< empty: nccl if the machine has GPUs, else ring; with servers: none
  std::int64_t servers =
      0;               ///< number of parameter servers; 0: gradients are reduced by an algorithm
  std::string output;  ///< output file; empty: standard output
  bool force = false;  ///< true: overwrite the file
  bool list = false;
  std::string format = "text";
};

/// Returns the text of a new scenario with a machine, a model, an algorithm and comments. Ignores
/// output, force, list and format. Names are not checked: unknown ones are written as they are.
std::string scenario_to_start_from(InitOptions options, const core::Library& library);

/// `tutti init`: writes a new scenario, or lists the names that it can use.
int init(const InitOptions& options, const Environment& environment);

}  // namespace tutti::tools
