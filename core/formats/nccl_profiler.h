#pragma once

// Dumps of NCCL's example profiler plugin (libnccl-profiler-example.so), one file for each
// communicator and rank: a JSON list of begin and end events for Chrome's trace viewer. Times in a
// dump are in microseconds since the start of the plugin in the rank's process, except times of the
// GPU's clock, which are in nanoseconds since 1970.
// SOURCE: NVIDIA/nccl plugins/profiler/example (2.23 to 2.30): README.md, print_event.cc.

#include <cstdint>
#include <functional>
#include <string>

#include "core/formats/byte_input.h"
#include "core/formats/record_counts.h"

namespace tutti::core {

/// A collective or a message. Missing numbers are -1. The reader passes the same object to the
/// callback for all calls.
struct NcclProfilerCall {
  std::string name;           ///< "AllReduce", "Send", …
  std::string communicator;   ///< hash of the communicator
  std::int64_t process = -1;  ///< "pid" of the process, which drives one or more GPUs
  std::int64_t rank = -1, peer = -1, sequence = -1;
  std::int64_t count = -1;  ///< number of elements: the count argument of the NCCL call
  std::string type;         ///< "ncclFloat32"
  std::string algorithm, protocol;
  std::int64_t channels = -1;
  std::int64_t begin_ns = -1, end_ns = -1;          ///< on the host, since the plugin's start
  std::int64_t gpu_begin_ns = -1, gpu_end_ns = -1;  ///< earliest start and latest end of all
                                                    ///< channels on the GPU
  std::int64_t timed_channels = 0;
};

/// A wait of the proxy thread: for the GPU ("SendGpuWait"), the network ("SendWait"), or the peer
/// ("SendPeerWait", "RecvWait").
struct NcclProfilerWait {
  std::string name;
  std::int64_t peer = -1, channel = -1;
  std::int64_t duration_ns = 0;
};

struct TakeNcclProfiler {
  std::function<void(const NcclProfilerCall&)> call;
  std::function<void(const NcclProfilerWait&)> wait;
};

/// Reads a dump. `counts` gets the number of events of each category. ERRORS: the text is not a
/// JSON list or is damaged (with line and column); it has no collective and no message.
Expected<void> read_nccl_profiler(ByteInput& input, const std::string& name,
                                  const TakeNcclProfiler& take, RecordCounts& counts);

}  // namespace tutti::core
