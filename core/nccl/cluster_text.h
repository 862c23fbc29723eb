#pragma once

#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "core/cluster/machine.h"
#include "core/nccl/search/search_settings.h"
#include "core/nccl/topology/topology.h"

namespace tutti::core::nccl {

/// What a topology does not say of a cluster.
struct ClusterWords {
  std::string machine;     ///< what it is called
  std::string file;        ///< where the topology is from
  std::int64_t nodes = 1;  ///< of such machines
  std::string link;        ///< kind of network link between them; empty: a latency that is assumed
  std::string devices;     ///< the machine that `like` is, for the text's sources
};

/// The shipped machine whose GPUs are of the same compute capability as the topology's; "" if none
/// is.
std::string machine_with_such_gpus(const Topology& topology);

/// A cluster file of machines like this: devices, switches, network cards and links as NCCL's
/// search sees them, and the rings that it finds inside one machine and over several. What devices
/// compute, and how fast their memory is, no topology says: it is that of `like`'s first GPU and
/// CPU. Latencies are those of the shipped machines. ERRORS: `like` has no GPU or no CPU.
Expected<std::string> cluster_text(const Topology& topology, const ClusterWords& words,
                                   const Machine& like, const SearchSettings& settings);

}  // namespace tutti::core::nccl
