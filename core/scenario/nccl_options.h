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
      variables;  ///< names and values of NCCL's environment variables, in the order of the
                  ///< scenario
  nccl::Settings settings;  ///< settings that this release of NCCL derives from the variables
  /// The name of the transport between machines; nullopt: the cluster states the transport.
  std::optional<std::string> transport;
  /// The file with measurements of this cluster; empty: none. `calibration_at` is the location of
  /// the file's name in the scenario.
  std::string calibration;
  Location calibration_at = {};
  /// The tuner plugin that NCCL loads.
  enum class Tuner { kNone, kAwsOfi, kFile };
  Tuner tuner = Tuner::kNone;
  std::string tuner_file;  ///< for kFile: path of the table, relative to the current folder or
                           ///< absolute
  Location tuner_at = {};
  std::string instance;  ///< for kAwsOfi: instance type, for example "p5en.48xlarge"; empty: not
                         ///< stated
};

}  // namespace tutti::core
