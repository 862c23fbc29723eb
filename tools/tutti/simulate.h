#pragma once

#include "tools/tutti/execute.h"

namespace tutti::tools {

struct SimulateOptions : ExecuteOptions {
  std::optional<std::uint64_t> seed;
  std::string network_model;
  std::string interference;
  std::string nccl;
  std::string fold = "auto";
  std::string remember = "auto";
  bool unproved = false;  ///< true: also simulate an incorrect algorithm from a file
};

/// `tutti simulate`: predicts a scenario's training step.
int simulate(const SimulateOptions& options, const Environment& environment);

}  // namespace tutti::tools
