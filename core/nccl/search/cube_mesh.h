#pragma once

#include "core/nccl/topology/topology.h"

namespace tutti::core::nccl {

/// Returns the topology of the first `gpus` of the eight V100 GPUs of a DGX-1 (or HGX-1, or
/// p3.16xlarge), without network cards. GPUs have the same numbers as in the machine file.
/// REQUIRES: gpus is 2 to 8. SOURCE: NVIDIA DGX-1 with Tesla V100 white paper (WP-08437), figure 4;
/// rates: NVIDIA/nccl src/graph/topo.h.
Topology cube_mesh(int gpus);

}  // namespace tutti::core::nccl
