#pragma once

#include <string>

#include "tools/tutti/command.h"
#include "tools/tutti/init.h"

namespace tutti::tools {

struct ImportTfConfigOptions {
  std::string from = "env";  ///< file, or "env"
  InitOptions scenario;      ///< all but its nodes
};

/// `tutti import tf-config`: writes a scenario to start from with as many workers as TF_CONFIG has.
int import_tf_config(const ImportTfConfigOptions& options, const Environment& environment);

}  // namespace tutti::tools
