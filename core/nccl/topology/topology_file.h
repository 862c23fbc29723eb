#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/nccl/topology/topology.h"

namespace tutti::core::nccl {

/// NCCL's topology: the XML that NCCL_TOPO_DUMP_FILE writes, for one host or several that share an
/// NVLink domain. GPUs without a rank and network ports without a device number are left out, as in
/// NCCL; if no GPU has a rank, all are taken, in the order of their device numbers. Hosts that all
/// count from 0 are counted one behind the other. `file`: what errors call the text. ERRORS: no
/// XML; an element that says less than a complete dump does, or contradicts another; no GPU; more
/// than 576 nodes of a kind, NCCL's own limit. SOURCE: NVIDIA/nccl v2.28.9 src/graph/xml.cc,
/// topo.cc.
Expected<Topology> read_topology(std::string_view text, const std::string& file);
/// The same for a file of at most 64 MiB.
Expected<Topology> load_topology(const std::string& path);

}  // namespace tutti::core::nccl
