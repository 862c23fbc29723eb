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
/// REQUIRES: found = search_graphs(topology, count, search).
/// ERRORS: a network that is not known.
Expected<System> system_of(const Topology& topology, const SearchResult& found, std::int64_t count,
                           const SearchSettings& search, const std::optional<std::string>& network);

/// `whole` machines as NCCL takes them after that search: nodes are what GPUs reach without the network, and GPUs that have no peer access go by PCIe and the host's
/// memory, whatever NVLinks they have.
/// Cards that several nodes of a machine share count as a part for each, by their rate. `topology`: of one machine.
System as_searched(System whole, const Topology& topology, const SearchResult& found, const SearchSettings& search);

/// Whether cards reach the memory of the GPUs near them. REQUIRES: found.over_nodes.
bool gpudirect(const SearchResult& found, const SearchSettings& search);

}  // namespace tutti::core::nccl
