#pragma once

#include <string>
#include <vector>

#include "core/nccl/topology/topology.h"

namespace tutti::test {

/// Returns the text of topologies/NAME.xml in this folder.
std::string topology_text(const std::string& name);
/// Returns the topology of that file. Throws if it is invalid.
core::nccl::Topology topology(const std::string& name);
/// Returns the topology of a text. Throws if it is invalid.
core::nccl::Topology topology_of(const std::string& text);
/// Returns a topology with only the GPUs of ranks 0 to `gpus` - 1.
core::nccl::Topology first_gpus(const core::nccl::Topology& topology, int gpus);
/// Returns the names of all topologies of this folder.
std::vector<std::string> topology_names();

}  // namespace tutti::test
