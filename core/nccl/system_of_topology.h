#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/nccl/search.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// `count` machines of a topology as the times of collectives see them. A topology does not say what carries messages between machines: it is
/// `network`, or follows from what the first GPU's card is called (mlx5_…: InfiniBand, which RoCE's cards are called, too; efa…, rdmap…: EFA; cxi…:
/// Slingshot; others: TCP).
/// REQUIRES: found = search_graphs(topology, count, …).
/// ERRORS: a network that is not known; a machine that is several nodes to NCCL, of which there are no times.
Expected<System> system_of(const Topology& topology, const SearchResult& found, std::int64_t count,
                           const std::optional<std::string>& network);

}  // namespace tutti::core::nccl
