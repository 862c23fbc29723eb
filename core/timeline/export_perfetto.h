#pragma once

#include <ostream>

#include "core/base/error.h"
#include "core/timeline/reader.h"

namespace tutti::core {

/// Writes a timeline as a trace that ui.perfetto.dev and trace_processor open: a process per worker, in it a group per
/// device with its computation, its packs in flight and its lanes; arrows from each send to the receive that took its
/// message (of a multicast's receives, to the first); and every link's load in GB/s as a counter. Times are cut to
/// nanoseconds, Perfetto's unit.
/// ERRORS: a damaged block.
Expected<void> export_perfetto(const TimelineReader& timeline, std::ostream& out);

}  // namespace tutti::core
