#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/formats/byte_input.h"
#include "core/formats/record_counts.h"

namespace tutti::core {

/// One operation of one rank in a training job with pipeline and data parallelism.
struct LoggedOperation {
  std::int64_t rank = 0, dp_rank = 0, stage = 0;
  std::int64_t step = 0;
  std::string name;  ///< "forward-compute", "backward-send", "grads-reduce-scatter", …
  std::int64_t start_ns = 0, end_ns = 0;  ///< in ns since an origin that all ranks share
  std::int64_t sequence = 0;  ///< index among the operations of this name, rank and step
};

/// True if the text begins like a log of operations, that is, with a line of column names that
/// include optype, start_ts and duration.
bool is_operation_log(std::string_view first_bytes);

/// Reads a log of operations, which is a CSV file with the columns dp_rank, stage, rank, step,
/// optype, start_ts and duration (in seconds) and seq_id; other columns are ignored. ByteDance's
/// StragglerAnalysis publishes traces of production jobs in this form. Memory is proportional to
/// one line. SOURCE: ByteDance-Seed/StragglerAnalysis, data/. ERRORS: a column is missing; a cell
/// is not a number; each error has the line.
Expected<void> read_operation_log(ByteInput& input, const std::string& name,
                                  const std::function<void(const LoggedOperation&)>& take,
                                  RecordCounts& counts);

}  // namespace tutti::core
