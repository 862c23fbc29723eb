#pragma once

#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "core/cluster/machine.h"
#include "core/nccl/search/search_settings.h"
#include "core/nccl/topology/topology.h"

namespace tutti::core::nccl {

/// Facts about a cluster that a topology does not have.
struct ClusterWords {
  std::string machine;     ///< name of the machine
  std::string file;        ///< path of the topology file
  std::int64_t nodes = 1;  ///< number of machines
  std::string link;        ///< kind of network link between machines; empty: the latency is assumed
  std::string devices;     ///< name of the machine `like`, for source remarks in the text
};

/// Returns the shipped machine whose GPUs have the same compute capability as the topology's; "" if
/// there is none.
std::string machine_with_such_gpus(const Topology& topology);

/// Returns a cluster file for such machines: devices, switches, network cards and links as in
/// NCCL's search, and the rings that it finds inside one machine and over several. A topology has
/// no rates of computation and memory, so they are those of `like`'s first GPU and CPU. Latencies
/// are those of the shipped machines. ERRORS: `like` has no GPU or no CPU.
Expected<std::string> cluster_text(const Topology& topology, const ClusterWords& words,
                                   const Machine& like, const SearchSettings& settings);

}  // namespace tutti::core::nccl
