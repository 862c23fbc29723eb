#pragma once

// Schedules that TE-CCL has found, in its JSON: which chunk travels over which link in which epoch.
// SOURCE: microsoft/TE-CCL teccl/solvers; examples in teccl/examples/experiments/output_provided.

#include <memory>
#include <string>
#include <string_view>

#include "core/custom/custom_algorithm.h"

namespace tutti::core::custom {

/// The text is JSON with TE-CCL's list of flows.
bool is_teccl(std::string_view text);

/// An all-gather of whole chunks. GPUs are ranks in the order of their numbers; each link between
/// two of them is a lane at either end, on which flows go in the order of their epochs. Chunks that
/// pass switches take the cluster's own routes. Null, and problems, if it is none, if a GPU sends
/// what it does not have, or if flows have parts of chunks (TE-CCL's all-to-all).
std::shared_ptr<const AlgorithmText> read_teccl(std::string_view text, const std::string& file,
                                                Problems& problems);

}  // namespace tutti::core::custom
