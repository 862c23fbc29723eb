#pragma once

#include <string>

#include "tools/tutti/command.h"
#include "tools/tutti/import_nccl.h"
#include "tools/tutti/import_trace.h"
#include "tools/tutti/init.h"

namespace tutti::tools {

struct ImportTfConfigOptions {
  std::string from = "env";  ///< file with TF_CONFIG, or "env" for the environment variable
  InitOptions scenario;      ///< options of the new scenario, except the number of nodes
};

struct ImportOptions {
  ImportTfConfigOptions tf_config;
  ImportNcclTopologyOptions nccl_topology;
  ImportTraceOptions trace;
  enum class Kind { kTrace, kTfConfig, kNcclTopology };
  Kind kind = Kind::kTrace;  ///< the kind of input to import
};

/// `tutti import`: reads files of other programs. `tutti import tf-config` writes a new scenario
/// with the number of workers of TF_CONFIG. `tutti import nccl-topology` is import_nccl_topology(),
/// and `tutti import TRACE…` is import_trace().
int import_files(const ImportOptions& options, const Environment& environment);

}  // namespace tutti::tools
