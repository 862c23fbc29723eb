#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/formats/byte_input.h"
#include "core/formats/record_counts.h"

namespace tutti::core {

/// Dumps of PyTorch's Flight Recorder: the last collectives of one rank, as a pickle or JSON.
/// SOURCE: pytorch/pytorch torch/csrc/distributed/c10d/FlightRecorder*.hpp (versions 2.4 to 2.10),
/// tools/flight_recorder.

/// One entry of a dump. Missing numbers are -1. The reader passes the same object to `take` for all
/// entries.
struct FlightEntry {
  std::int64_t record = -1;
  std::string group_name, group_description;
  std::int64_t collective_sequence = -1, p2p_sequence = -1;
  std::string name;   ///< name of the operation, such as "nccl:all_reduce" or "nccl:send 0->1"
  std::string state;  ///< "scheduled", "started" or "completed"
  bool is_point_to_point = false;
  std::int64_t created_ns = -1;   ///< time at which the host enqueued the operation, in ns since
                                  ///< 1970
  std::int64_t duration_ns = -1;  ///< recorded only with TORCH_NCCL_ENABLE_TIMING=1
  std::int64_t input_elements = -1, output_elements = -1;  ///< totals over all tensors
  std::string type;                                        ///< type of the first tensor
};

struct FlightHeader {
  struct Group {
    std::string name, description;
    std::vector<std::int64_t> ranks;
  };
  std::string version;
  std::string nccl_version;
  std::vector<Group> groups;
  std::int64_t entries = 0;
};

/// Reads a dump. Calls `begin` once with the header, then `take` for each entry.
/// ERRORS: as for read_plain_document(); the dump has no entries.
Expected<FlightHeader> read_flight_recorder(ByteInput& input, const std::string& name,
                                            const std::function<void(const FlightHeader&)>& begin,
                                            const std::function<void(const FlightEntry&)>& take,
                                            RecordCounts& counts);

}  // namespace tutti::core
