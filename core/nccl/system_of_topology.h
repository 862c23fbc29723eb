#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/nccl/search/search.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// Returns the transport of a card by its driver's name in NCCL's topology files: mlx5_… is
/// InfiniBand (RoCE cards have the same name), efa… and rdmap… EFA, cxi… Slingshot; all others are
/// TCP.
Transport transport_of_card(std::string_view device);

/// Returns `count` machines of a topology for the time model. The transport between machines is
/// `network`, or follows from the name of the first GPU's card. REQUIRES: found =
/// search_graphs(topology, count, search). ERRORS: an unknown network.
Expected<System> system_of(const Topology& topology, const SearchResult& found, std::int64_t count,
                           const SearchSettings& search, const std::optional<std::string>& network);

/// Returns the system `whole` as NCCL treats it after that search: a node consists of GPUs that
/// reach each other without the network, and GPUs without peer access communicate over PCIe and the
/// host's memory even if they have NVLinks. Cards that several nodes of a machine share are divided
/// among them by rate. `topology`: of one machine.
System as_searched(System whole, const Topology& topology, const SearchResult& found,
                   const SearchSettings& search);

/// True if cards access the memory of nearby GPUs directly. REQUIRES: found.over_nodes.
bool gpudirect(const SearchResult& found, const SearchSettings& search);

}  // namespace tutti::core::nccl
