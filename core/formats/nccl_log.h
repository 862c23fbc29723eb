#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/formats/byte_input.h"
#include "core/formats/record_counts.h"

namespace tutti::core {

/// The log that NCCL writes with NCCL_DEBUG=INFO and
/// NCCL_DEBUG_SUBSYS=INIT,GRAPH,TUNING,COLL,NET,ENV. Its lines contain "NCCL INFO". Lines may begin
/// with a launcher's prefix and be mixed with other output of a job.
/// SOURCE: format strings of NVIDIA/nccl, tags 2.4.8 to 2.30.7 (src/debug.cc, init.cc, enqueue.cc,
/// graph/, transport/).

/// One line of a log. Missing numbers are -1. The comments of Kind list the fields that are set for
/// each kind of line. The reader passes the same object to `take` for all lines.
struct NcclLogLine {
  enum class Kind : std::uint8_t {
    kVersion,       ///< text: the version ("2.21.5"); is_rccl
    kCommunicator,  ///< rank, ranks, communicator, device; id, except in old releases
    kCollective,    ///< a call of a collective: name, elements, data_type (NCCL's number),
                    ///< communicator, ranks
    kChoice,        ///< NCCL's choice for a call: name, bytes, algorithm, protocol, channels; in
                    ///< older releases also predicted_us
    kTransport,     ///< text: the transport of a connection ("P2P/CUMEM", "NET/IB")
    kNetwork,       ///< text: the network ("IB : Using [0]mlx5_0:1/RoCE …")
    kChannels,      ///< channels: number of channels for collectives
    kVariable,      ///< text: an environment variable ("NCCL_ALGO=Ring")
    kTestTable,     ///< the titles of a table of nccl-tests
  };
  Kind kind = Kind::kVersion;
  int line = 0;
  std::string host;
  std::int64_t pid = -1, thread = -1;
  std::string text;
  std::string name;          ///< name of the collective: "AllReduce"
  std::string communicator;  ///< the pointer to a rank's communicator
  std::string id;            ///< the number that all ranks of a communicator have in common
  std::int64_t rank = -1, ranks = -1, device = -1;
  std::int64_t elements = -1, bytes = -1, data_type = -1;
  std::string algorithm, protocol;
  std::int64_t channels = -1;
  double predicted_us = -1;
  bool is_rccl = false;  ///< true if the version is that of RCCL, AMD's variant of NCCL
};

/// Reads a log to its end.
/// ERRORS: the input cannot be read; NCCL wrote none of its lines.
Expected<void> read_nccl_log(ByteInput& input, const std::string& name,
                             const std::function<void(const NcclLogLine&)>& take,
                             RecordCounts& counts,
                             const std::function<void(double)>& progress = {});

}  // namespace tutti::core
