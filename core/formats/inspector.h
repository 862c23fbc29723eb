#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/formats/byte_input.h"
#include "core/formats/record_counts.h"

namespace tutti::core {

/// Reads dumps of the NCCL Inspector (NCCL 2.28 and later, formats v4.0 to v4.2): one JSON object
/// per line, for one finished collective or send of one rank. RCCL's profiler plugin writes the
/// same fields.
/// SOURCE: NVIDIA/nccl plugins/profiler/inspector (2.30), ext-profiler/inspector (2.28, 2.29).

/// One record, valid until the next one. Missing numbers are -1.
struct InspectorRecord {
  int line = 0;
  std::string communicator;  ///< header.id, a hash
  std::string communicator_name;
  std::int64_t rank = -1, ranks = -1, nodes = -1;
  std::string version;  ///< such as "v4.0"
  std::string host;
  std::int64_t pid = -1;
  std::int64_t dumped_us = -1;  ///< since 1970
  std::string kind;             ///< such as "AllReduce"; point-to-point: "Send" or "Recv"
  bool is_point_to_point = false;
  std::int64_t sequence = -1;  ///< counted per kind and communicator
  std::int64_t peer = -1;
  std::int64_t message_bytes = -1;  ///< bytes of one rank's argument: of the input of an
                                    ///< all-gather, of the output of a reduce-scatter
  std::int64_t duration_ns = -1;  ///< time of the longest channel, including waiting for late ranks
  std::string timing_source;      ///< "kernel_gpu", "kernel_cpu" or "collective_cpu"
  std::string algorithm, protocol;  ///< v4.2
  std::int64_t channels = -1;
  std::int64_t issued_us = -1;  ///< verbose dumps only: when the host enqueued it, since 1970
  std::int64_t kernel_start_us = -1, kernel_stop_us = -1;
};

/// Reads a dump to its end. Lines that are not JSON are counted as unknown, because launchers mix
/// other output in; so are records of other kinds. ERRORS: unreadable; no record; a record with
/// damaged JSON, except the last line (a killed job truncates it).
Expected<void> read_inspector(ByteInput& input, const std::string& name,
                              const std::function<void(const InspectorRecord&)>& take,
                              RecordCounts& counts,
                              const std::function<void(double)>& progress = {});

}  // namespace tutti::core
