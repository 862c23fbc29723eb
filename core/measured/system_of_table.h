#pragma once

#include <string>
#include <vector>

#include "core/measured/collective_tables.h"
#include "core/nccl/settings.h"
#include "core/nccl/system.h"

namespace tutti::core {

/// The machines that a table's facts describe, as NCCL sees them, and which release it was with
/// which settings.
struct TableSystem {
  nccl::System system;
  nccl::Version version;
  nccl::Settings settings;
  std::vector<std::string> assumed;  ///< what the facts do not say, and what was taken for it
};

/// ERRORS: why this cannot be modelled: GPUs, links or networks that there is no model of, releases
/// before the cost model.
Expected<TableSystem> system_of(const TableFacts& facts);

}  // namespace tutti::core
