#pragma once

#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "core/cluster/machine.h"
#include "core/nccl/search/search_settings.h"
#include "core/nccl/topology/topology.h"

namespace tutti::core::nccl {

/// Properties of a cluster that a topology file does not contain.
struct ClusterWords {
  std::string machine;     ///< name of the machine
  std::string file;        ///< path of the topology file
  std::int64_t nodes = 1;  ///< number of machines
  /// The kind of network link between machines. If `link` is empty, the kind is unknown, and
  /// cluster_text() writes an assumed latency.
  std::string link;
  std::string devices;  ///< name of the machine from which cluster_text() copies compute and memory
                        ///< rates; the text states this source
};

/// Returns the name of the shipped machine whose GPUs have the same compute capability as the GPUs
/// of the topology; "" if there is none.
std::string machine_with_gpus_of(const Topology& topology);

/// Returns the text of a cluster file for machines with this topology. The text contains the
/// devices, switches, network cards and links that NCCL's search uses, and the rings that the
/// search finds inside one machine and over several machines. A topology does not contain the
/// compute and memory rates of devices, so these rates are copied from the first GPU and the first
/// CPU of the machine `like`. Latencies are copied from the machines that Tutti ships. ERRORS:
/// `like` has no GPU or no CPU.
Expected<std::string> cluster_text(const Topology& topology, const ClusterWords& words,
                                   const Machine& like, const SearchSettings& settings);

}  // namespace tutti::core::nccl
