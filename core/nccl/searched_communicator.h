#pragma once

#include <cstdint>
#include <span>

#include "core/base/error.h"
#include "core/nccl/communicator.h"
#include "core/nccl/search_settings.h"
#include "core/nccl/settings.h"
#include "core/nccl/topology.h"

namespace tutti::core::nccl {

/// What of the settings the search looks at. ERRORS: a distance that NCCL does not know.
Expected<SearchSettings> search_settings(const Settings& settings);

/// The communicator over all GPUs of `count` machines like this: graphs as NCCL 2.28.9's search finds them (search.h), then the
/// channels; `given` graphs are used in place of those that would be searched. For NVLS the driver has to know multicast, which no topology says: it is taken to. A CollNet plugin is there if NCCL_COLLNET_ENABLE=1 and some
/// card can reduce.
/// ERRORS: those of the settings and of the search.
Expected<Communicator> searched_communicator(const Topology& topology, std::int64_t count, const Settings& settings,
                                             std::span<const Graph> given = {});

}  // namespace tutti::core::nccl
