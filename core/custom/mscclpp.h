#pragma once

// Algorithms as execution plans of MSCCL++, in JSON.
// SOURCE: microsoft/mscclpp src/core/executor/execution_plan.cc reads them, and
// src/core/include/execution_kernel.hpp says what operations do.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/custom/custom_algorithm.h"

namespace tutti::core::custom {

/// The text begins as JSON does.
bool is_mscclpp(std::string_view text);

/// A GPU is a rank and a thread block a lane; what other ranks write, and what proxies send, are
/// lanes behind them (mscclpp_lanes.h). Null, and problems, if it is none, or has what Tutti has
/// not.
std::shared_ptr<const AlgorithmText> read_mscclpp(std::string_view text, const std::string& file,
                                                  Problems& problems);

/// A schedule as an execution plan. `unit`: it is one for so many elements, each of which becomes a
/// chunk. A lane becomes a thread block. Ranks of one node (`per_node` consecutive ones) have
/// memory channels, others port channels. ERRORS: what the format does not have.
Expected<std::string> to_mscclpp(const Schedule& schedule, const Contract& contract,
                                 const std::string& name, std::int32_t per_node);

}  // namespace tutti::core::custom
