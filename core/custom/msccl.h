#pragma once

// Algorithms in MSCCL's XML, which lists the steps of every GPU.
// SOURCE: microsoft/msccl-tools msccl/language/ir.py; the runtimes of MSCCL and RCCL read the same.

#include <memory>
#include <string>
#include <string_view>

#include "core/custom/custom_algorithm.h"

namespace tutti::core::custom {

/// True if the text begins as XML does.
bool is_msccl(std::string_view text);

/// Reads an MSCCL file: a GPU is a rank, a thread block is a lane, and a channel distinguishes
/// connections between two GPUs. Returns null, and problems, if the file is invalid or uses
/// unsupported features.
std::shared_ptr<const AlgorithmText> read_msccl(std::string_view text, const std::string& file,
                                                Problems& problems);

/// A schedule as MSCCL's XML. `unit` is the number of elements per chunk of the schedule. A lane
/// with several peers becomes several thread blocks that wait for each other. ERRORS: features that
/// the format does not have.
Expected<std::string> to_msccl(const Schedule& schedule, const Contract& contract,
                               const std::string& name);

}  // namespace tutti::core::custom
