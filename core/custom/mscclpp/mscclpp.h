#pragma once

// Algorithms as MSCCL++ execution plans, in JSON.
// SOURCE: microsoft/mscclpp src/core/executor/execution_plan.cc (reads plans) and
// src/core/include/execution_kernel.hpp (defines the operations).

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/custom/custom_algorithm.h"

namespace tutti::core::custom {

/// True if the text begins like JSON.
bool is_mscclpp(std::string_view text);

/// Reads an execution plan. Each GPU becomes a rank, and each thread block becomes a lane (a
/// sequence of steps that the rank executes in order). Additional lanes receive the data that other
/// ranks write, and send the data that proxies move (lanes.h). Returns null and adds problems if
/// the text is not a plan or uses features that Tutti does not support.
std::shared_ptr<const AlgorithmText> read_mscclpp(std::string_view text, const std::string& file,
                                                  Problems& problems);

/// Returns a schedule as an execution plan. Each element of the schedule becomes one chunk, and
/// each lane becomes one thread block. Ranks of one node (`per_node` consecutive ranks) use memory
/// channels. Ranks of different nodes use port channels.
/// ERRORS: the schedule uses a feature that the format does not support.
Expected<std::string> to_mscclpp(const Schedule& schedule, const Contract& contract,
                                 const std::string& name, std::int32_t per_node);

}  // namespace tutti::core::custom
