#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/tutti/command.h"

namespace tutti::tools {

struct SynthesizeOptions {
  std::string scenario;  ///< whose cluster is used; empty: the next ones describe it
  std::string cluster;   ///< machine: name of a shipped one, or file
  std::int64_t nodes = 1;
  std::optional<std::int32_t> gpus;    ///< per node; default: all
  std::string network = "one_switch";  ///< or "rails"
  std::string link;                    ///< a kind of network link; empty: 2 µs
  std::vector<std::string> set;        ///< fields of the scenario
  std::string collective = "all_gather";
  std::string bytes = "64M";
  std::string type = "float32";
  std::int64_t root = 0;
  std::string output;  ///< .tutti-algorithm or .xml; empty: nothing is written
  bool force = false;
  std::optional<double> timeout_seconds;
  std::int32_t rows = 8;
  std::string format = "text";
};

/// `tutti synthesize`: finds schedules for a fabric, proves and ranks them, and writes the best.
int synthesize(const SynthesizeOptions& options, const Environment& environment);

}  // namespace tutti::tools
