#pragma once

// Logs of MLPerf training: lines with ":::MLLOG" and a JSON object.
// SOURCE: mlcommons/logging mlperf_logging/mllog; mlcommons/training_results_v0.7 to v5.1.

#include <cstdint>
#include <functional>
#include <string>

#include "core/formats/byte_input.h"
#include "core/formats/record_counts.h"

namespace tutti::core {

/// One line of a log. Missing numbers are -1. The reader passes the same object to `take` for all
/// records.
struct MlperfRecord {
  int line = 0;
  std::string key;
  std::int64_t time_ms = -1;
  std::string value;        ///< scalar value
  double throughput = -1;   ///< samples per second: field `throughput` or `imgs_sec` of the value
  double step_s = -1;       ///< seconds of a step: `train_step_time` or `train_step_timing in s`
  std::int64_t epoch = -1;  ///< metadata.epoch_num, rounded down
  double progress = -1;     ///< metadata.epoch_num, with its fractional part
  double epoch_count = -1;  ///< metadata.epoch_count
  double samples = -1;      ///< metadata.samples_count
  std::int64_t step = -1;   ///< metadata.step
};

/// Reads a log. Lines without the mark `:::MLLOG` are counted as ignored. ERRORS: the input cannot
/// be read; the JSON of a line is damaged (with line and column); no line has the mark.
Expected<void> read_mlperf_log(ByteInput& input, const std::string& name,
                               const std::function<void(const MlperfRecord&)>& take,
                               RecordCounts& counts);

}  // namespace tutti::core
