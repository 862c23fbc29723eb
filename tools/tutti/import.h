#pragma once

#include <string>

#include "tools/tutti/command.h"
#include "tools/tutti/import_nccl.h"
#include "tools/tutti/import_trace.h"
#include "tools/tutti/init.h"

namespace tutti::tools {

struct ImportTfConfigOptions {
  std::string from = "env";  ///< file with TF_CONFIG, or "env"
  InitOptions scenario;      ///< options of the scenario, except its nodes
};

struct ImportOptions {
  ImportTfConfigOptions tf_config;
  ImportNcclTopologyOptions nccl_topology;
  ImportTraceOptions trace;
  enum class Kind { kTrace, kTfConfig, kNcclTopology };
  Kind kind = Kind::kTrace;  ///< the requested kind of import
};

/// `tutti import tf-config` writes a scenario to start from with as many workers as TF_CONFIG has;
/// `tutti import nccl-topology` is import_nccl_topology(), and `tutti import TRACE…` is
/// import_trace().
int import_files(const ImportOptions& options, const Environment& environment);

}  // namespace tutti::tools
