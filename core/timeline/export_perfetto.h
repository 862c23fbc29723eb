#pragma once

#include <ostream>

#include "core/base/error.h"
#include "core/timeline/reader.h"

namespace tutti::core {

/// Writes a timeline as a trace for ui.perfetto.dev and trace_processor: a process per worker, with
/// a group per device for its computation, its packs in flight and its lanes; an arrow from each
/// send to the receive of its message (of a multicast, to the first receive); and every link's load
/// in GB/s as a counter. Times are truncated to nanoseconds, Perfetto's unit.
/// ERRORS: a damaged block.
Expected<void> export_perfetto(const TimelineReader& timeline, std::ostream& out);

}  // namespace tutti::core
