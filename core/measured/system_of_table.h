#pragma once

#include <string>
#include <vector>

#include "core/measured/collective_tables.h"
#include "core/nccl/settings.h"
#include "core/nccl/system.h"

namespace tutti::core {

/// The machines on which a table was measured, as an input for the model of NCCL, with the release
/// of NCCL and its settings.
struct TableSystem {
  nccl::System system;
  nccl::Version version;
  nccl::Settings settings;
  /// Descriptions of values that were assumed because the facts do not state them.
  std::vector<std::string> assumed;
};

/// Returns the system of a table. ERRORS: the system cannot be modelled, because a GPU, link or
/// network is unknown, or because the release of NCCL is older than the cost model.
Expected<TableSystem> system_of(const TableFacts& facts);

}  // namespace tutti::core
