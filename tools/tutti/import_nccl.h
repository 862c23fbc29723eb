#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/tutti/command.h"

namespace tutti::tools {

struct ImportNcclTopologyOptions {
  std::string file;
  std::int64_t nodes = 1;
  std::int64_t gpus = 0;  ///< import only the first GPUs, this many; 0: all
  std::string name;       ///< the name of the machine; empty: that of the file
  std::string devices;  ///< machine from which memory and arithmetic are taken; empty: one with the
                        ///< same GPUs
  std::string link;     ///< kind of network link between machines
  std::vector<std::string> set;  ///< "NCCL_CROSS_NIC=0"
  bool graphs = false;           ///< print the graphs that NCCL finds instead of a cluster
  std::string graph_file;        ///< … and write them to this file, in NCCL's format
  std::string against;           ///< … and compare them with a dump of NCCL's
  std::string output;            ///< empty: standard output
  bool force = false;            ///< overwrite
  std::string format = "text";
};

/// `tutti import nccl-topology`: writes the cluster that NCCL's topology file describes, or prints
/// the graphs that NCCL finds on it.
int import_nccl_topology(const ImportNcclTopologyOptions& options, const Environment& environment);

}  // namespace tutti::tools
