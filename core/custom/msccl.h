#pragma once

// Algorithms as MSCCL's XML lists them, step by step of every GPU.
// SOURCE: microsoft/msccl-tools msccl/language/ir.py; the runtimes of MSCCL and RCCL read the same.

#include <memory>
#include <string>
#include <string_view>

#include "core/custom/custom_algorithm.h"

namespace tutti::core::custom {

/// The text begins as XML does.
bool is_msccl(std::string_view text);

/// A GPU is a rank, a thread block a lane, and a channel tells apart the connections between two
/// GPUs. Null, and problems, if it is none, or has what Tutti has not.
std::shared_ptr<const AlgorithmText> read_msccl(std::string_view text, const std::string& file,
                                                Problems& problems);

/// A schedule as MSCCL's XML. `unit`: it is one for so many elements, each of which becomes a
/// chunk. A lane that talks to several ranks becomes several thread blocks that wait for each
/// other. ERRORS: what the format does not have.
Expected<std::string> to_msccl(const Schedule& schedule, const Contract& contract,
                               const std::string& name);

}  // namespace tutti::core::custom
