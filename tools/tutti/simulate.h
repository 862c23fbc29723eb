#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/tutti/command.h"

namespace tutti::tools {

struct SimulateOptions {
  std::string scenario;
  std::string format = "text";
  std::string timeline;  ///< file to write, if any
  std::string record;    ///< none, packs, steps; default: steps with a timeline
  std::string workers;   ///< "0-3"
  std::optional<double> from_us;
  std::optional<double> to_us;
  std::optional<std::int64_t> most_spans;
  std::optional<std::int32_t> steps;
  std::optional<std::uint64_t> seed;
  std::string network_model;
  std::int32_t rows = 12;  ///< of packs and of links in the text
};

/// `tutti simulate`: predicts a scenario's training step.
int simulate(const SimulateOptions& options, const Environment& environment);

}  // namespace tutti::tools
