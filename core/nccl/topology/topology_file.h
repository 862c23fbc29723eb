#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/nccl/topology/topology.h"

namespace tutti::core::nccl {

/// Reads a topology from the XML text that NCCL writes (NCCL_TOPO_DUMP_FILE), for one host or for
/// several hosts that share an NVLink domain. As in NCCL, GPUs without a rank and network ports
/// without a device number are ignored. If no GPU has a rank, all GPUs are used, in the order of
/// their device numbers. If the ranks of every host start at 0, they are renumbered consecutively.
/// `file` is the name that error messages use for the text.
/// ERRORS: the text is not XML; an element is incomplete or inconsistent; there is no GPU; there
/// are more than 576 nodes of one kind, which is NCCL's limit.
/// SOURCE: NVIDIA/nccl v2.28.9 src/graph/xml.cc, topo.cc.
Expected<Topology> read_topology(std::string_view text, const std::string& file);
/// Reads a topology from a file of at most 64 MiB.
Expected<Topology> load_topology(const std::string& path);

}  // namespace tutti::core::nccl
