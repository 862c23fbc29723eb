#pragma once

#include <string>

#include "core/timeline/timeline.h"

namespace tutti::core {

/// Returns a run with two packs, two layers and a note.
RunInfo made_run();
/// Passes a timeline with all kinds of records to the sink: five tracks with `spans_per_track`
/// spans each, where track 4 receives the messages of track 2, a step, a pack, a link, and a piece
/// of the path.
void tell(TimelineSink& sink, int spans_per_track, std::uint64_t seed = 1);
/// Returns the content of a timeline file with the records of tell().
std::string written(int spans_per_track);

}  // namespace tutti::core
