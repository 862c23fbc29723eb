#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/formats/byte_input.h"
#include "core/formats/record_counts.h"

namespace tutti::core {

/// Reads the log that NCCL writes with NCCL_DEBUG=INFO and
/// NCCL_DEBUG_SUBSYS=INIT,GRAPH,TUNING,COLL,NET,ENV: lines with "NCCL INFO", mixed with other
/// output of a job, and after prefixes of launchers. SOURCE: format strings of NVIDIA/nccl, tags
/// 2.7.8 to 2.30.7 (src/debug.cc, init.cc, enqueue.cc, graph/, transport/).

/// One line, valid until the next one. Missing numbers are -1.
struct NcclLogLine {
  enum class Kind : std::uint8_t {
    kVersion,       ///< text: the version, such as "2.21.5"
    kCommunicator,  ///< rank, ranks, communicator, device
    kCollective,    ///< a call: name, elements, data_type (NCCL's number), communicator, ranks
    kChoice,     ///< name, bytes, algorithm, protocol, channels, or predicted_us of older releases
    kTransport,  ///< text: such as "P2P/CUMEM" or "NET/IB"
    kNetwork,    ///< text: such as "IB : Using [0]mlx5_0:1/RoCE …"
    kChannels,   ///< channels: the number for collectives
    kVariable,   ///< text: such as "NCCL_ALGO=Ring"
  };
  Kind kind = Kind::kVersion;
  int line = 0;
  std::string host;
  std::int64_t pid = -1, thread = -1;
  std::string text;
  std::string name;  ///< such as "AllReduce"
  std::string communicator;
  std::int64_t rank = -1, ranks = -1, device = -1;
  std::int64_t elements = -1, bytes = -1, data_type = -1;
  std::string algorithm, protocol;
  std::int64_t channels = -1;
  double predicted_us = -1;
};

/// Reads a log to its end.
/// ERRORS: unreadable; no line of NCCL.
Expected<void> read_nccl_log(ByteInput& input, const std::string& name,
                             const std::function<void(const NcclLogLine&)>& take,
                             RecordCounts& counts,
                             const std::function<void(double)>& progress = {});

}  // namespace tutti::core
