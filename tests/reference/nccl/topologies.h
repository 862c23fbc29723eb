#pragma once

#include <string>
#include <vector>

#include "core/nccl/topology/topology.h"

namespace tutti::test {

/// The text of topologies/NAME.xml beside this file.
std::string topology_text(const std::string& name);
/// What it says. Throws if it is refused.
core::nccl::Topology topology(const std::string& name);
/// The same for a text.
core::nccl::Topology topology_of(const std::string& text);
/// Its GPUs of ranks 0 to `gpus` - 1.
core::nccl::Topology first_gpus(const core::nccl::Topology& topology, int gpus);
/// The names of all of them.
std::vector<std::string> topology_names();
/// `text` with every `from` made a `to`. Throws if there is none.
std::string replaced(std::string text, const std::string& from, const std::string& to);

}  // namespace tutti::test
