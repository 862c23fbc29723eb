#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/byte_input.h"
#include "core/formats/record_counts.h"

namespace tutti::core {

/// Traces of the PyTorch profiler (Kineto): JSON in the form of Chrome's trace viewer, plain or
/// gzip. SOURCE: pytorch/kineto libkineto/src/output_json.cpp, include/MetadataFieldCatalog.h;
/// names of fields changed between PyTorch 1.x and 2.9, so only a name, a phase and a time are
/// required. docs/traces.md lists the fields that are read.

/// The kind of an event, by its category.
enum class KinetoKind : std::uint8_t {
  kCpuOperator,    ///< cpu_op, Operator
  kAnnotation,     ///< user_annotation: ProfilerStep#5, nccl:all_reduce, Optimizer.step#SGD.step
  kGpuAnnotation,  ///< gpu_user_annotation: the same ranges as the GPU executes them
  kLaunch,         ///< cuda_runtime, cuda_driver, Runtime: a call that may launch a kernel
  kKernel,         ///< kernel, Kernel
  kCopy,           ///< gpu_memcpy, gpu_memset, Memcpy, Memset
};

/// One event, valid until the next one. Missing texts are empty and missing numbers negative.
struct KinetoEvent {
  KinetoKind kind = KinetoKind::kCpuOperator;
  std::string name;
  std::string pid, tid;
  std::int64_t start_ns = 0;     ///< since the base of the trace
  std::int64_t duration_ns = 0;  ///< 0 or more
  std::int64_t correlation = -1;
  std::int64_t external_id = -1;
  std::int64_t device = -1;
  std::int64_t stream = -1;
  std::int64_t grid = -1;   ///< the first number; for a kernel of NCCL, the number of channels
  std::string input_dims;   ///< such as "[[64,3,7,7]]", without blanks, at most 4 KiB
  std::string input_types;  ///< such as "[\"float\"]"
  // A collective's metadata, on its kernel and on record_param_comms.
  std::string collective;  ///< "allreduce", "_allgather_base", …
  std::string data_type;   ///< ATen's: "Float", "BFloat16", …
  std::int64_t in_elements = -1, out_elements = -1;
  std::int64_t group_size = -1;
  std::string group_name, group_description;
  std::string group_ranks;  ///< "[0,1,2]", shortened with "..." if there are many
  std::int64_t rank_start = -1, rank_stride = -1;
  std::int64_t source_rank = -1, destination_rank = -1;
  std::int64_t sequence = -1;
};

/// The fields outside the events.
struct KinetoHeader {
  struct Device {
    std::string name;
    std::int64_t multiprocessors = 0;
  };
  std::vector<Device> devices;  ///< all devices that the process sees
  std::int64_t rank = -1, world_size = -1;
  std::string backend;
  std::string nccl_version;
  std::int64_t base_ns = 0;  ///< base of the events' times, since 1970; 0: they are absolute
  bool is_rocm = false;
};

/// Called with the events in the order of the file, which is not chronological.
using TakeKinetoEvent = std::function<void(const KinetoEvent&)>;

/// Reads a trace to its end; memory is proportional to one event. `counts` gets the ignored
/// records; the callback counts the events that it uses. `progress` is called from time to time
/// with the share of the file that was read; it may be empty. ERRORS: not JSON, truncated, no
/// traceEvents, times out of range.
Expected<KinetoHeader> read_kineto(ByteInput& input, const std::string& name,
                                   const TakeKinetoEvent& take, RecordCounts& counts,
                                   const std::function<void(double)>& progress = {});

}  // namespace tutti::core
