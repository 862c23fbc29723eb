#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/formats/byte_input.h"
#include "core/formats/record_counts.h"

namespace tutti::core {

/// Horovod timelines (HOROVOD_TIMELINE): JSON for Chrome's trace viewer, in which each tensor is a
/// process. The timeline of a killed job is accepted, although the end of its list is missing.
/// SOURCE: horovod/horovod horovod/common/timeline.cc, docs/timeline.rst.

/// One activity of a tensor. Activities are reported when they end, so a nested activity comes
/// before the activity that contains it. The reader passes the same object to the callback for all
/// activities.
struct HorovodActivity {
  std::string tensor;
  std::string name;           ///< for example "NEGOTIATE_ALLREDUCE" or "MEMCPY_IN_FUSION_BUFFER"
  int depth = 0;              ///< nesting level; 0: the activity is not inside another activity
  std::int64_t start_us = 0;  ///< µs since the beginning of the timeline
  std::int64_t end_us = 0;
  std::string type, shape;  ///< type and shape of the tensor, such as "float32" and "[2048, 1000]";
                            ///< set only at depth 0; may be empty
};

struct HorovodHeader {
  std::int64_t start_us = 0;  ///< µs since 1970; 0: not known
  bool cut_off = false;
};

struct TakeHorovod {
  std::function<void(const HorovodActivity&)> activity;
  /// Called when a rank reports that it is ready to reduce a tensor.
  std::function<void(const std::string& tensor, std::int64_t rank, std::int64_t us)> ready;
  /// Called for each cycle of Horovod. The timeline has cycles only with
  /// HOROVOD_TIMELINE_MARK_CYCLES=1.
  std::function<void(std::int64_t us)> cycle;
};

/// Reads a timeline to its end. Memory is proportional to the number of tensors plus the number of
/// activities that have not ended.
/// ERRORS: the input cannot be read; its JSON is invalid (except that it may be truncated); it has
/// no activity of a tensor.
Expected<HorovodHeader> read_horovod_timeline(ByteInput& input, const std::string& name,
                                              const TakeHorovod& take, RecordCounts& counts,
                                              const std::function<void(double)>& progress = {});

}  // namespace tutti::core
