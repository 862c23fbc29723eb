#pragma once

#include <string>

#include "tools/tutti/command.h"
#include "tools/tutti/import_nccl.h"
#include "tools/tutti/init.h"

namespace tutti::tools {

struct ImportTfConfigOptions {
  std::string from = "env";  ///< file, or "env"
  InitOptions scenario;      ///< everything except its nodes
};

struct ImportOptions {
  ImportTfConfigOptions tf_config;
  ImportNcclTopologyOptions nccl_topology;
  bool is_topology = false;  ///< nccl-topology was requested
};

/// `tutti import tf-config` writes a new scenario with as many workers as TF_CONFIG has; `tutti
/// import nccl-topology` is import_nccl_topology().
int import_files(const ImportOptions& options, const Environment& environment);

}  // namespace tutti::tools
