#pragma once

#include <string>
#include <vector>

#include "core/measured/collective_tables.h"
#include "core/nccl/settings.h"
#include "core/nccl/system.h"

namespace tutti::core {

/// The input of the time model for a table: the machines on which the table was measured, the
/// release of NCCL, and the settings of NCCL.
struct TableSystem {
  nccl::System system;
  nccl::Version version;
  nccl::Settings settings;
  /// Descriptions of values that were assumed because the facts do not state them.
  std::vector<std::string> assumed;
};

/// Returns the system of a table. ERRORS: the system cannot be modelled, because a GPU, link or
/// network is unknown, or because the release of NCCL is older than the oldest modelled release.
Expected<TableSystem> system_of(const TableFacts& facts);

}  // namespace tutti::core
