#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/byte_input.h"
#include "core/formats/record_counts.h"

namespace tutti::core {

/// Traces of the PyTorch profiler (Kineto): JSON for Chrome's trace viewer, plain or gzip. The
/// names of many fields changed between PyTorch 1.x and 2.9. Therefore the reader only requires
/// that an event has a name, a phase and a time. docs/traces.md lists the fields that are read.
/// SOURCE: pytorch/kineto libkineto/src/output_json.cpp, include/MetadataFieldCatalog.h.

/// The kind of an event. The comment of each kind lists the categories that the trace uses for it.
enum class KinetoKind : std::uint8_t {
  kCpuOperator,    ///< cpu_op, Operator
  kAnnotation,     ///< user_annotation: ProfilerStep#5, nccl:all_reduce, Optimizer.step#SGD.step
  kGpuAnnotation,  ///< gpu_user_annotation: the time range of an annotation on the GPU
  kLaunch,         ///< cuda_runtime, cuda_driver, Runtime: a call that may launch a kernel
  kKernel,         ///< kernel, Kernel
  kCopy,           ///< gpu_memcpy, gpu_memset, Memcpy, Memset
  kAllocation,     ///< [memory]: the allocator allocates GPU memory
};

/// One event of a trace. Missing texts are empty, and missing numbers are negative. The reader
/// passes the same object to `take` for all events.
struct KinetoEvent {
  KinetoKind kind = KinetoKind::kCpuOperator;
  std::string name;
  std::string pid, tid;
  std::int64_t start_ns = 0;     ///< ns since the base of the trace (KinetoHeader::base_ns)
  std::int64_t duration_ns = 0;  ///< at least 0
  std::int64_t correlation = -1;
  std::int64_t external_id = -1;
  std::int64_t device = -1;
  std::int64_t stream = -1;
  std::int64_t grid = -1;   ///< first dimension of the kernel's grid; for an NCCL kernel, the
                            ///< number of channels
  std::int64_t bytes = -1;  ///< for kAllocation, the size, rounded up to the allocator's unit
  std::string input_dims;   ///< shapes of the inputs, such as "[[64,3,7,7]]"; without blanks, at
                            ///< most 4 KiB
  std::string input_types;  ///< for example "[\"float\"]"
  // The metadata of a collective, which a trace states in the event of the kernel and in the event
  // record_param_comms.
  std::string collective;  ///< "allreduce", "_allgather_base", …
  std::string data_type;   ///< ATen's name of the type: "Float", "BFloat16", …
  std::int64_t in_elements = -1, out_elements = -1;
  std::int64_t group_size = -1;
  std::string group_name, group_description;
  std::string group_ranks;  ///< ranks of the group, such as "[0,1,2]"; abbreviated with "..." if
                            ///< there are many
  std::int64_t rank_start = -1, rank_stride = -1;
  std::int64_t source_rank = -1, destination_rank = -1;
  std::int64_t sequence = -1;
};

/// The fields of a trace outside its events.
struct KinetoHeader {
  struct Device {
    std::string name;
    std::int64_t multiprocessors = 0;
  };
  std::vector<Device> devices;  ///< all devices that are visible to the process
  std::int64_t rank = -1, world_size = -1;
  std::string backend;
  std::string nccl_version;
  std::int64_t base_ns = 0;  ///< time to which the events' times are relative, in ns since 1970; 0
                             ///< if times are absolute
  bool is_rocm = false;
};

/// Called for each event, in the order of the file, which is not chronological.
using TakeKinetoEvent = std::function<void(const KinetoEvent&)>;

/// Reads a trace to its end. The memory use is proportional to the size of one event. In `counts`,
/// the reader counts the records that it ignores, and `take` must count the events that it uses.
/// `progress`, which may be empty, is called from time to time with the share of the file that was
/// read. ERRORS: the text is not JSON, is truncated, has no traceEvents, or has times out of range.
Expected<KinetoHeader> read_kineto(ByteInput& input, const std::string& name,
                                   const TakeKinetoEvent& take, RecordCounts& counts,
                                   const std::function<void(double)>& progress = {});

}  // namespace tutti::core
