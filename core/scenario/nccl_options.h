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
      variables;            ///< names and values of NCCL's environment variables, in order
  nccl::Settings settings;  ///< the settings that the release derives from the variables
  /// The transport between machines (a name of Transport); nullopt: the cluster states it.
  std::optional<std::string> transport;
  /// The file of the cluster's own measurements, and the location of its name in the scenario;
  /// empty: none.
  std::string calibration;
  Location calibration_at = {};
  /// The tuner plugin that is loaded.
  enum class Tuner { kNone, kAwsOfi, kFile };
  Tuner tuner = Tuner::kNone;
  std::string tuner_file;  ///< for kFile: a path that can be opened from the current folder
  Location tuner_at = {};
  std::string instance;  ///< for kAwsOfi: for example "p5en.48xlarge"; empty: not stated
};

}  // namespace tutti::core
