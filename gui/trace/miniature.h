#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/scenario/executor.h"
#include "core/scenario/library.h"
#include "gui/trace/trace.h"

namespace tutti::gui {

/// The content of a small picture of a run: one training step on a few rows of spans.
struct Miniature {
  std::shared_ptr<const Trace> trace;
  TimeRange range;                ///< the longest training step
  std::vector<std::size_t> rows;  ///< the rows to draw, in the order of the trace; at least one
};

/// Chooses the step and the rows of a trace that a small picture shows: computation, packs and one
/// lane of up to three devices, which are evenly distributed over all recorded devices. The result
/// has at most `most_rows` rows. ERRORS: the trace has no spans.
core::Expected<Miniature> miniature_of(std::shared_ptr<const Trace> trace, std::size_t most_rows);

/// Executes a scenario for a small picture. Only the first four workers, and at most 200,000 spans,
/// are recorded. `path`: the file of the text, to which relative file names in the text refer.
/// ERRORS: the scenario has problems, the run failed, or `stop` became true.
core::Expected<Miniature> make_miniature(const std::string& text, const std::string& path,
                                         const core::Library& library, core::Executor& executor,
                                         std::size_t most_rows, const std::atomic<bool>& stop);

}  // namespace tutti::gui
