#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/formats/byte_input.h"
#include "core/formats/record_counts.h"

namespace tutti::core {

/// Reads dumps of PyTorch's Flight Recorder: the last collectives of one rank, as a pickle or JSON.
/// SOURCE: pytorch/pytorch torch/csrc/distributed/c10d/FlightRecorder*.hpp (versions 2.4 to 2.10),
/// tools/flight_recorder.

/// One entry, valid until the next one. Missing numbers are -1.
struct FlightEntry {
  std::int64_t record = -1;
  std::string group_name, group_description;
  std::int64_t collective_sequence = -1, p2p_sequence = -1;
  std::string name;   ///< such as "nccl:all_reduce" or "nccl:send 0->1"
  std::string state;  ///< "scheduled", "started" or "completed"
  bool is_point_to_point = false;
  std::int64_t created_ns = -1;   ///< when the host enqueued the operation, since 1970
  std::int64_t duration_ns = -1;  ///< recorded with TORCH_NCCL_ENABLE_TIMING=1
  std::int64_t input_elements = -1, output_elements = -1;  ///< sums over all tensors
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

/// Reads a dump. ERRORS: those of read_plain_document; the dump has no entries.
Expected<FlightHeader> read_flight_recorder(ByteInput& input, const std::string& name,
                                            const std::function<void(const FlightHeader&)>& begin,
                                            const std::function<void(const FlightEntry&)>& take,
                                            RecordCounts& counts);

}  // namespace tutti::core
