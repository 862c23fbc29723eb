#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/tutti/command.h"

namespace tutti::tools {

struct SynthesizeOptions {
  /// The scenario whose cluster is used; empty: the following options describe the cluster.
  std::string scenario;
  std::string cluster;  ///< the machine: a shipped machine, or a file
  std::int64_t nodes = 1;
  std::optional<std::int32_t> gpus;    ///< number of GPUs per node; default: all
  std::string network = "one_switch";  ///< the kind of network: one_switch or rails
  std::string link;  ///< the kind of network link; empty: a link with a latency of 2 µs
  std::vector<std::string> set;  ///< overrides of the scenario's fields
  std::string collective = "all_gather";
  std::string bytes = "64M";
  std::string type = "float32";
  std::int64_t root = 0;
  std::string output;  ///< the output file, .tutti-algorithm or .xml; empty: none
  bool force = false;
  bool no_switch_sums = false;  ///< true: leave out schedules in which switches reduce
  std::optional<double> timeout_seconds;
  std::int32_t rows = 8;
  std::string format = "text";
};

/// `tutti synthesize`: finds schedules for a fabric, proves and ranks them, and writes the best
/// schedule.
int synthesize(const SynthesizeOptions& options, const Environment& environment);

}  // namespace tutti::tools
