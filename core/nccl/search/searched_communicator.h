#pragma once

#include <cstdint>
#include <span>

#include "core/base/error.h"
#include "core/nccl/communicator.h"
#include "core/nccl/search/search.h"
#include "core/nccl/search/search_settings.h"
#include "core/nccl/settings.h"
#include "core/nccl/topology/topology.h"

namespace tutti::core::nccl {

/// Returns the type of a CPU in NCCL's cost model. An unknown vendor counts as Intel.
HostCpu host_cpu(const CpuFacts& cpu);

/// Returns those settings on which the search depends, as the given release uses them. (Before
/// 2.14, NCCL does not use the network between two GPUs of a machine even if it is faster than the
/// links between them.) ERRORS: a setting contains a distance that NCCL does not support.
Expected<SearchSettings> search_settings(const Settings& settings,
                                         Version version = kDefaultVersion);

/// Returns the communicator over all GPUs of `count` machines like `topology`, for the search
/// result `found`. `version` determines the number of channels. NVLS needs a driver that supports
/// multicast. A topology does not state whether the driver supports multicast, so support is
/// assumed. A CollNet plugin is assumed if the search included CollNet graphs and some network card
/// can reduce.
/// REQUIRES: found = search_graphs(topology, count, …).
/// ERRORS: there are more than 2³¹ - 1 ranks; NCCL_NET_DISABLE_INTRA=1 is set, but some GPUs of a
/// host are connected only by the network.
Expected<Communicator> communicator_of(const Topology& topology, const SearchResult& found,
                                       std::int64_t count, const Settings& settings,
                                       Version version = kDefaultVersion);

/// Returns the communicator over all GPUs of `count` machines like `topology`. The communicator's
/// graphs are searched as in NCCL 2.28.9 (search.h), except for the graphs in `given`. ERRORS: the
/// errors of search_settings() and search_graphs().
Expected<Communicator> searched_communicator(const Topology& topology, std::int64_t count,
                                             const Settings& settings,
                                             std::span<const Graph> given = {});

}  // namespace tutti::core::nccl
