#pragma once

#include <string>

#include "core/timeline/timeline.h"

namespace tutti::core {

/// A run with two packs, two layers and a note.
RunInfo made_run();
/// Tells all that a timeline can hold: five tracks with so many spans each, of which track 4
/// receives what track 2 sends, a step, a pack, a link, a piece of the path.
void tell(TimelineSink& sink, int spans_per_track, std::uint64_t seed = 1);
/// The file of that.
std::string written(int spans_per_track);

}  // namespace tutti::core
