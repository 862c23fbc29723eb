#pragma once

#include <ostream>

#include "core/base/error.h"
#include "core/timeline/reader.h"

namespace tutti::core {

/// Writes a timeline as a trace for ui.perfetto.dev and trace_processor. Each worker is a process,
/// with a group of tracks for each device: computation, packs in flight and lanes. An arrow leads
/// from each send to the receive of its message (for a multicast, to the first receive). The load
/// of every link, in GB/s, is a counter. Times are truncated to nanoseconds, because this is
/// Perfetto's unit. ERRORS: a block is damaged.
Expected<void> export_perfetto(const TimelineReader& timeline, std::ostream& out);

}  // namespace tutti::core
