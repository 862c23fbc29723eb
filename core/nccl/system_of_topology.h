#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/nccl/search/search.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// What carries messages from a card, by what its driver calls it, as NCCL's topology files have
/// it: mlx5_… is InfiniBand (RoCE's cards are called so, too), efa… and rdmap… EFA, cxi… Slingshot;
/// all others are TCP.
Transport transport_of_card(std::string_view device);

/// `count` machines of a topology as the times of collectives see them. What carries messages
/// between machines is `network`, or follows from what the first GPU's card is called. REQUIRES:
/// found = search_graphs(topology, count, search). ERRORS: a network that is not known.
Expected<System> system_of(const Topology& topology, const SearchResult& found, std::int64_t count,
                           const SearchSettings& search, const std::optional<std::string>& network);

/// `whole` machines as NCCL takes them after that search: nodes are what GPUs reach without the
/// network, and GPUs that have no peer access go by PCIe and the host's memory, whatever NVLinks
/// they have. Cards that several nodes of a machine share count as a part for each, by their rate.
/// `topology`: of one machine.
System as_searched(System whole, const Topology& topology, const SearchResult& found,
                   const SearchSettings& search);

/// Whether cards reach the memory of the GPUs near them. REQUIRES: found.over_nodes.
bool gpudirect(const SearchResult& found, const SearchSettings& search);

}  // namespace tutti::core::nccl
