#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/tutti/command.h"

namespace tutti::tools {

struct ImportNcclTopologyOptions {
  std::string file;
  std::int64_t nodes = 1;
  std::int64_t gpus = 0;         ///< the first so many; 0: all
  std::string name;              ///< of the machine; empty: the file's
  std::string devices;           ///< machine whose memory and arithmetic it has; empty: one with such GPUs
  std::string link;              ///< kind of network link between machines
  std::vector<std::string> set;  ///< "NCCL_CROSS_NIC=0"
  bool graphs = false;           ///< tell the graphs that NCCL finds, in place of a cluster
  std::string graph_file;        ///< … and write them there, as NCCL does
  std::string against;           ///< … and hold them against a dump of NCCL's
  std::string output;            ///< empty: standard output
  bool force = false;            ///< overwrite
  std::string format = "text";
};

/// `tutti import nccl-topology`: writes a cluster that NCCL's topology file describes, or tells the graphs that NCCL finds on it.
int import_nccl_topology(const ImportNcclTopologyOptions& options, const Environment& environment);

}  // namespace tutti::tools
