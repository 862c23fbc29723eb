#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/nccl/settings.h"
#include "core/nccl/version.h"

namespace tutti::core {

/// The NCCL options of a scenario (strategy.nccl).
struct NcclOptions {
  nccl::Version version = nccl::kDefaultVersion;
  std::vector<std::pair<std::string, std::string>>
      variables;  ///< names and values of NCCL's environment variables, in the order in which the
                  ///< scenario lists them
  nccl::Settings settings;  ///< settings that the chosen release of NCCL derives from the variables
  /// The name of the transport between machines; nullopt: the cluster's network determines it.
  std::optional<std::string> transport;
  /// The release of the plugin aws-ofi-nccl; nullopt: the release that is usual with `version`.
  std::optional<nccl::Version> ofi_plugin;
  /// The path of a file with measurements on this cluster; empty: there is none. `calibration_at`
  /// is the location in the scenario where the path of the calibration is written.
  std::string calibration;
  Location calibration_at = {};
  /// The tuner plugin that NCCL uses.
  enum class Tuner { kNone, kAwsOfi, kFile };
  Tuner tuner = Tuner::kNone;
  std::string tuner_file;  ///< for kFile: path of the table, absolute or relative to the current
                           ///< folder
  Location tuner_at = {};
  std::string instance;  ///< for kAwsOfi: instance type, such as "p5en.48xlarge"; empty:
                         ///< unspecified
};

}  // namespace tutti::core
