#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/kineto.h"
#include "core/formats/record_counts.h"

namespace tutti::core {

/// Reads SQLite exports of Nsight Systems (nsys export --type sqlite), schemas 2 and 3. Rows become
/// the events that a trace of the PyTorch profiler would have: ranges of emit_nvtx() are operators,
/// ranges named "step 5" or "iteration 5" are steps, and NCCL's own ranges are calls, with their
/// sizes if the export has blobs. SOURCE: docs.nvidia.com/nsight-systems; the tables of real
/// exports; NVIDIA/nccl src/include/nvtx_payload_schemas.h.

struct NsysProcess {
  std::int64_t pid = -1;
  std::string name;
  std::int64_t rank = -1;  ///< rank in the largest communicator created while recording
  std::int64_t ranks = -1;
};

struct NsysHeader {
  std::vector<NsysProcess> processes;       ///< processes with kernels, by pid
  std::vector<std::string> gpus;            ///< names; empty if the export has no TARGET_INFO_GPU
  std::int64_t start_ns = 0;                ///< start of the recording, since 1970; 0: not known
  bool has_blobs = false;                   ///< the export has the ranges' payloads
  std::int64_t calls = 0, sized_calls = 0;  ///< number of NCCL's ranges, and of those with a size
};

/// `process`: index of NsysHeader::processes.
using TakeNsysEvent = std::function<void(std::size_t process, const KinetoEvent&)>;

/// Reads an export. ERRORS: not a database, damaged, without kernels (kMissing
/// "CUPTI_ACTIVITY_KIND_KERNEL").
Expected<NsysHeader> read_nsys(const std::string& path, const TakeNsysEvent& take,
                               RecordCounts& counts);
/// Reads a database from memory.
Expected<NsysHeader> read_nsys_bytes(std::string_view bytes, const std::string& name,
                                     const TakeNsysEvent& take, RecordCounts& counts);

}  // namespace tutti::core
