#pragma once

#include <string>
#include <vector>

#include "core/measured/collective_tables.h"
#include "core/nccl/settings.h"
#include "core/nccl/system.h"

namespace tutti::core {

/// The machines described by a table's facts, in NCCL's terms, with the release and its settings.
struct TableSystem {
  nccl::System system;
  nccl::Version version;
  nccl::Settings settings;
  /// Values that were assumed because the facts do not state them.
  std::vector<std::string> assumed;
};

/// ERRORS: the reason why this cannot be modelled: unknown GPUs, links or networks, or a release
/// older than the cost model.
Expected<TableSystem> system_of(const TableFacts& facts);

}  // namespace tutti::core
