#pragma once

// Schedules in TE-CCL's JSON output: each flow states which chunk travels over which link in which
// epoch.
// SOURCE: microsoft/TE-CCL teccl/solvers; examples in teccl/examples/experiments/output_provided.

#include <memory>
#include <string>
#include <string_view>

#include "core/custom/custom_algorithm.h"

namespace tutti::core::custom {

/// True if the text is JSON that contains TE-CCL's list of flows.
bool is_teccl(std::string_view text);

/// Reads an all-gather of whole chunks. GPUs become ranks in the order of their numbers. Each link
/// between two GPUs becomes one lane (sequence of steps) on the sending GPU and one lane on the
/// receiving GPU. The flows of a link are sorted by their epochs. Messages between GPUs take the
/// routes of the scenario's cluster; the routes in the file are ignored. Returns null and adds
/// problems if the text is not a TE-CCL schedule of whole chunks, or if a GPU sends a chunk that it
/// does not have.
std::shared_ptr<const AlgorithmText> read_teccl(std::string_view text, const std::string& file,
                                                Problems& problems);

}  // namespace tutti::core::custom
