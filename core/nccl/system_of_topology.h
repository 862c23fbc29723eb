#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/nccl/search/search.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// Returns the transport that a network card uses. `name` is the name of the device in NCCL's
/// topology files. The transport is InfiniBand for mlx5_… (RoCE cards have the same name), EFA for
/// efa… and rdmap…, Slingshot for cxi…, and TCP for all other names.
Transport transport_of_card(std::string_view device);

/// Returns the system that consists of `count` machines with this topology. The transport between
/// machines is `network` or, if `network` is nullopt, the transport that follows from the name of
/// the first GPU's card. REQUIRES: found = search_graphs(topology, count, search). ERRORS: the
/// network is unknown.
Expected<System> system_of(const Topology& topology, const SearchResult& found, std::int64_t count,
                           const SearchSettings& search, const std::optional<std::string>& network);

/// Returns the system `whole`, divided into the nodes that NCCL's search found (`found`). A node in
/// NCCL's sense consists of GPUs that reach each other without the network. GPUs without peer
/// access communicate over PCIe and the memory of the host, even if they have NVLinks. If several
/// nodes of a machine share network cards, the cards' rate is divided among these nodes. `topology`
/// is the topology of one machine.
System as_searched(System whole, const Topology& topology, const SearchResult& found,
                   const SearchSettings& search);

/// True if network cards access the memory of nearby GPUs directly. REQUIRES: found.over_nodes.
bool gpudirect(const SearchResult& found, const SearchSettings& search);

}  // namespace tutti::core::nccl
