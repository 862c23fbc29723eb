#pragma once

#include <cstdint>
#include <string>

#include "tools/tutti/command.h"

namespace tutti::tools {

struct InitOptions {
  std::string model = "resnet50_torchvision";
  std::string machine = "dgx1-v100";
  std::int64_t nodes = 2;
  std::string network = "one_switch";  ///< or "rails", "fat_tree", "dragonfly"
  std::string link;                    ///< a kind of network link; empty: a latency to replace
  std::string algorithm;               ///< empty: nccl if the machine has GPUs, ring if not; or servers
  std::int64_t servers = 0;            ///< on which variables lie; 0: gradients are reduced by an algorithm
  std::string output;                  ///< empty: standard output
  bool force = false;                  ///< overwrite
  bool list = false;
  std::string format = "text";
};

/// The text of a scenario with a machine, a model, an algorithm and remarks; of output, force, list and format nothing.
/// Not checked: names that do not exist are in it as they are.
std::string scenario_to_start_from(InitOptions options, const core::Library& library);

/// `tutti init`: writes a scenario to start from, or lists what it can be made of.
int init(const InitOptions& options, const Environment& environment);

}  // namespace tutti::tools
