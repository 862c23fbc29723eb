#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/nccl/topology/topology.h"

namespace tutti::core::nccl {

/// Reads NCCL's topology: the XML that NCCL_TOPO_DUMP_FILE writes, for one host or several that
/// share an NVLink domain. GPUs without a rank and network ports without a device number are
/// ignored, as in NCCL; if no GPU has a rank, all are used, in the order of their device numbers.
/// If all hosts count from 0, they are renumbered consecutively. Errors use `file` as the name of
/// the text.
/// ERRORS: not XML; an element that is incomplete or inconsistent; no GPU; more than 576 nodes of a
/// kind, which is NCCL's limit. SOURCE: NVIDIA/nccl v2.28.9 src/graph/xml.cc, topo.cc.
Expected<Topology> read_topology(std::string_view text, const std::string& file);
/// Reads a topology from a file of at most 64 MiB.
Expected<Topology> load_topology(const std::string& path);

}  // namespace tutti::core::nccl
