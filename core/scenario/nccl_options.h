#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/nccl/settings.h"
#include "core/nccl/version.h"

namespace tutti::core {

/// NCCL as a scenario has it (strategy.nccl).
struct NcclOptions {
  nccl::Version version = nccl::kDefaultVersion;
  std::vector<std::pair<std::string, std::string>>
      variables;            ///< of its environment: names and values, in order
  nccl::Settings settings;  ///< what the release makes of them
  /// What carries messages between machines (Transport's names); nothing: the cluster says it.
  std::optional<std::string> transport;
  /// The file of the cluster's own measurements, and where the scenario names it; empty: none.
  std::string calibration;
  Location calibration_at = {};
  /// The tuner plugin that is loaded.
  enum class Tuner { kNone, kAwsOfi, kFile };
  Tuner tuner = Tuner::kNone;
  std::string tuner_file;  ///< of kFile: a path that can be opened from here
  Location tuner_at = {};
  std::string instance;  ///< of kAwsOfi: "p5en.48xlarge"; empty: not stated
};

}  // namespace tutti::core
