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
};

}  // namespace tutti::core
