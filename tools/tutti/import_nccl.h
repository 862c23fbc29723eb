#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/tutti/command.h"

namespace tutti::tools {

struct ImportNcclTopologyOptions {
  std::string file;
  std::int64_t nodes = 1;
  std::int64_t gpus = 0;  ///< number of GPUs to import, beginning with the first; 0: all
  std::string name;       ///< name of the machine; empty: the name of the file
  /// The machine whose memory and arithmetic rates are used; empty: a machine with the same GPUs.
  std::string devices;
  std::string link;              ///< kind of network link between machines
  std::vector<std::string> set;  ///< variables, such as "NCCL_CROSS_NIC=0"
  bool graphs = false;           ///< true: print the graphs that NCCL finds, instead of a cluster
  std::string graph_file;        ///< the file for the graphs, in NCCL's format; empty: none
  std::string against;           ///< an NCCL graph dump to compare the graphs with; empty: none
  std::string output;            ///< the output file; empty: standard output
  bool force = false;            ///< true: overwrite existing files
  std::string format = "text";
};

/// `tutti import nccl-topology`: writes the cluster that NCCL's topology file describes, or prints
/// the graphs that NCCL finds on this topology.
int import_nccl_topology(const ImportNcclTopologyOptions& options, const Environment& environment);

}  // namespace tutti::tools
