#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/formats/byte_input.h"
#include "core/formats/record_counts.h"

namespace tutti::core {

/// Dumps of the NCCL Inspector (NCCL 2.28 and later) in the formats v4.0, v4.1 and v4.2, and in
/// later formats. In formats up to v4.2, each record has a header. In later formats, only the
/// statistics at the beginning of each dump have a header, which also applies to all following
/// records of the dump. Each line is a JSON object for one completed collective, send or receive of
/// one rank. RCCL's profiler plugin writes the same fields, without the id of the communicator.
/// SOURCE: NVIDIA/nccl plugins/profiler/inspector (2.30), ext-profiler/inspector (2.28, 2.29).

/// One record of a dump. Missing numbers are -1. The record is valid only during the call of
/// `take`.
struct InspectorRecord {
  int line = 0;
  std::string communicator;  ///< header.id, a hash; empty if the header has none
  std::string communicator_name;
  std::int64_t rank = -1, ranks = -1, nodes = -1;
  std::string version;  ///< version of the format: "v4.0"
  std::string host;
  std::int64_t pid = -1;
  std::int64_t dumped_us = -1;  ///< time at which the record was written, in µs since 1970
  std::string kind;  ///< kind of the operation, such as "AllReduce"; "Send" or "Recv" if it is
                     ///< point-to-point
  bool is_point_to_point = false;
  std::int64_t sequence = -1;  ///< sequence number among the operations of the same kind on the
                               ///< communicator
  std::int64_t peer = -1;
  /// The size in bytes that corresponds to the count argument of the NCCL call: the input of a rank
  /// for an all-gather, and the output of a rank for a reduce-scatter.
  std::int64_t message_bytes = -1;
  std::int64_t duration_ns = -1;    ///< duration on the slowest channel, including waiting for late
                                    ///< ranks
  std::string timing_source;        ///< "kernel_gpu", "kernel_cpu" or "collective_cpu"
  std::string algorithm, protocol;  ///< only in v4.2; otherwise empty
  std::int64_t channels = -1;
  std::int64_t issued_us = -1;  ///< time at which the host enqueued the operation, in µs since
                                ///< 1970; only in verbose dumps
  std::int64_t kernel_start_us = -1, kernel_stop_us = -1;
};

/// Reads a dump to its end. Lines that are not JSON are ignored, but counted as unknown: job
/// launchers mix other output into the file. Records of unknown kinds are counted, too.
/// ERRORS: the input cannot be read; the input has no record; the JSON of a record is damaged
/// (allowed in the last line, which is truncated if the job was killed).
Expected<void> read_inspector(ByteInput& input, const std::string& name,
                              const std::function<void(const InspectorRecord&)>& take,
                              RecordCounts& counts,
                              const std::function<void(double)>& progress = {});

}  // namespace tutti::core
