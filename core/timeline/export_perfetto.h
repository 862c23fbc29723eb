#pragma once

#include <ostream>

#include "core/base/error.h"
#include "core/timeline/reader.h"

namespace tutti::core {

/// Writes a timeline as a trace for ui.perfetto.dev and trace_processor. Each worker is a process,
/// with a group of tracks for each device: computation, packs in flight and lanes. An arrow leads
/// from each send to the receive of its message (for a multicast, to the first receive). A counter
/// shows the load of each link in GB/s. Times are truncated to whole nanoseconds, which is
/// Perfetto's unit of time. ERRORS: a block is damaged.
Expected<void> export_perfetto(const TimelineReader& timeline, std::ostream& out);

}  // namespace tutti::core
