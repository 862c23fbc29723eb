#pragma once

#include "core/nccl/topology/topology.h"

namespace tutti::core::nccl {

/// Returns the first `gpus` of the eight V100 of a DGX-1 (and HGX-1, p3.16xlarge) without network
/// cards, numbered as in its machine file. REQUIRES: 2 to 8. SOURCE: NVIDIA DGX-1 with Tesla V100
/// white paper (WP-08437), figure 4; rates: NVIDIA/nccl src/graph/topo.h.
Topology cube_mesh(int gpus);

}  // namespace tutti::core::nccl
