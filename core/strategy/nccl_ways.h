#pragma once

// The rings along which the data of an NCCL collective with a predicted time moves. The time does
// not depend on these rings, but the loads of links do (nccl_links.h).

#include <optional>

#include "core/cluster/cluster.h"
#include "core/nccl/collective_time.h"
#include "core/nccl/communicator.h"
#include "core/strategy/strategy.h"

namespace tutti::core {

/// True for rings, trees and similar algorithms. In such algorithms, each channel has a path
/// through the GPUs of a node, and leaves the node over one network card.
bool goes_by_channels(nccl::Algorithm algorithm);

/// Sets Strategy::channels and Strategy::nccl_rings to the number and the orders of the rings that
/// represent a collective of NCCL. `choice` is NCCL's choice for the collective, and `gpus` is the
/// number of GPUs per worker.
///
/// The rings are those of the machine file or, if it has none for these GPUs, those that NCCL's
/// search has found for the communicator. If data follows channels (rings, trees), there is one
/// ring per channel; if rings are known, but fewer than channels, there is one ring for each known
/// ring. Each ring leaves a node through one network card. In all other cases (NVLS, reductions by
/// the network, sends and receives), all known rings are used; if none are known, there is one ring
/// per GPU, but at least two. If no rings are known, rings visit GPUs that are close to each other
/// one after the other, so that data crosses every PCIe link as rarely as possible. NcclLinks does
/// not use this assumed order for NVLinks between pairs of GPUs.
void set_ways(Strategy& strategy, const nccl::Communicator& communicator,
              const std::optional<nccl::Choice>& choice, const Cluster& cluster, int gpus,
              bool across_workers);

}  // namespace tutti::core
