#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/kineto.h"
#include "core/formats/record_counts.h"

namespace tutti::core {

/// SQLite exports of Nsight Systems (nsys export --type sqlite), schemas 2 and 3. Rows are
/// converted to the events of a PyTorch profiler trace. NVTX ranges of emit_nvtx() become
/// operators, ranges with names such as "step 5" and "iteration 5" become training steps, and the
/// ranges that NCCL records become calls of collectives. The sizes of NCCL calls are known only if
/// the export has blobs. SOURCE: docs.nvidia.com/nsight-systems; the tables of real exports;
/// NVIDIA/nccl src/include/nvtx_payload_schemas.h.

struct NsysProcess {
  std::int64_t pid = -1;
  std::string name;
  std::int64_t rank = -1;  ///< rank in the largest communicator that was created during the
                           ///< recording
  std::int64_t ranks = -1;
};

struct NsysHeader {
  std::vector<NsysProcess> processes;  ///< processes that have kernels, sorted by pid
  std::vector<std::string> gpus;       ///< names of the GPUs; empty if the export has no table
                                       ///< TARGET_INFO_GPU
  std::int64_t start_ns = 0;           ///< start of the recording, in ns since 1970; 0: not known
  bool has_blobs = false;              ///< true if the export contains the payloads of NVTX ranges
  std::int64_t calls = 0, sized_calls = 0;  ///< number of all NCCL calls, and of those with a known
                                            ///< size
};

/// Called for each event. `process` is an index into NsysHeader::processes.
using TakeNsysEvent = std::function<void(std::size_t process, const KinetoEvent&)>;

/// Reads an export.
/// ERRORS: the file is not a database, is damaged, or has no kernels (kMissing
/// "CUPTI_ACTIVITY_KIND_KERNEL").
Expected<NsysHeader> read_nsys(const std::string& path, const TakeNsysEvent& take,
                               RecordCounts& counts);
/// Reads an export in memory. Error messages show `name` in place of a path.
Expected<NsysHeader> read_nsys_bytes(std::string_view bytes, const std::string& name,
                                     const TakeNsysEvent& take, RecordCounts& counts);

}  // namespace tutti::core
