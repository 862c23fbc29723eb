#pragma once

// Algorithms in the format MSCCL XML, which lists the steps of every GPU.
// SOURCE: microsoft/msccl-tools msccl/language/ir.py. The runtimes of MSCCL and RCCL read MSCCL
// XML.

#include <memory>
#include <string>
#include <string_view>

#include "core/custom/custom_algorithm.h"

namespace tutti::core::custom {

/// True if the text begins like XML.
bool is_msccl(std::string_view text);

/// Reads an MSCCL file. Each GPU becomes a rank, and each thread block becomes a lane (a sequence
/// of steps that the rank executes in order). MSCCL's channel number distinguishes several
/// connections between two GPUs. Returns null and adds problems if the file is invalid or uses
/// features that Tutti does not support.
std::shared_ptr<const AlgorithmText> read_msccl(std::string_view text, const std::string& file,
                                                Problems& problems);

/// Returns a schedule as MSCCL XML. Each element of the schedule becomes one chunk of the XML. A
/// thread block has one peer per direction, so a lane with several peers becomes several thread
/// blocks, which wait for each other.
/// ERRORS: the schedule uses a feature that the format does not support.
Expected<std::string> to_msccl(const Schedule& schedule, const Contract& contract,
                               const std::string& name);

}  // namespace tutti::core::custom
