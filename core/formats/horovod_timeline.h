#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/formats/byte_input.h"
#include "core/formats/record_counts.h"

namespace tutti::core {

/// Reads timelines of Horovod (HOROVOD_TIMELINE): JSON for Chrome's trace viewer, in which each
/// tensor is a process. The timeline of a killed job has no end of the list; this is accepted.
/// SOURCE: horovod/horovod horovod/common/timeline.cc, docs/timeline.rst.

/// One activity of a tensor, valid until the next one. Inner activities come before outer ones,
/// because they end first.
struct HorovodActivity {
  std::string tensor;
  std::string
      name;  ///< "NEGOTIATE_ALLREDUCE", "ALLREDUCE", "NCCL_ALLREDUCE", "MEMCPY_IN_FUSION_BUFFER", …
  int depth = 0;              ///< 0: an activity of the tensor itself; 1: nested in one
  std::int64_t start_us = 0;  ///< since the beginning of the timeline
  std::int64_t end_us = 0;
  std::string type, shape;  ///< "float32", "[2048, 1000]"; depth 0 only, may be missing
};

struct HorovodHeader {
  std::int64_t start_us = 0;  ///< since 1970; 0: not known
  bool cut_off = false;
};

struct TakeHorovod {
  std::function<void(const HorovodActivity&)> activity;
  /// Called when a rank is ready to reduce a tensor.
  std::function<void(const std::string& tensor, std::int64_t rank, std::int64_t us)> ready;
  std::function<void(std::int64_t us)> cycle;  ///< called with HOROVOD_TIMELINE_MARK_CYCLES=1
};

/// Reads a timeline to its end; memory is proportional to the number of open activities.
/// ERRORS: unreadable; JSON that is damaged before its end; no activity of Horovod.
Expected<HorovodHeader> read_horovod_timeline(ByteInput& input, const std::string& name,
                                              const TakeHorovod& take, RecordCounts& counts,
                                              const std::function<void(double)>& progress = {});

}  // namespace tutti::core
