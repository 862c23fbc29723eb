#pragma once

#include <memory>
#include <vector>

#include "core/base/data_type.h"
#include "core/base/error.h"
#include "core/nccl/communicator.h"
#include "core/nccl/tuning/choice.h"
#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"

namespace tutti::core::nccl {

/// The collective to lower, and its size: `elements` is the real number, as the contract counts
/// them; chunks and channels follow from `planned`, which may be larger, so that a few thousand
/// elements show the loops of millions.
struct LoweringRequest {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Choice choice;  ///< unused for sends and receives
  DataType type = DataType::kFloat32;
  std::int64_t elements = 0;
  std::int64_t planned = 0;
  Rank root = 0;
};

/// Returns the communicator with orders of GPUs for graphs without them: `inside` if it is given
/// (from one node), otherwise by index and shifted by one per channel, so that channels leave a
/// node at successive cards.
Communicator with_orders(const Communicator& communicator,
                         const std::vector<std::vector<int>>& inside);

/// Returns the steps that NCCL executes, in place if the kind supports it: parts of channels,
/// loops, chunks and slices, slots, and the peers of all messages. Supported are Ring (all five
/// collectives), Tree, NVLSTree and CollNetChain (all-reduce), NVLS and CollNetDirect (all-reduce;
/// all-gather and reduce-scatter if every GPU is a head), PAT (all-gather, reduce-scatter), and
/// sends and receives (all-to-all, gather, scatter, send-receive) with PXN. A mean is lowered as a
/// sum, because NCCL divides during the reduction. REQUIRES: at least two ranks; orders
/// (with_orders). ERRORS: unsupported: CollNet before 2.14, NVLS between nodes, and sends and
/// receives of 2.6, which has none.
/// SOURCE: NVIDIA/nccl v2.28.9 src/device/all_reduce.h, all_gather.h, reduce_scatter.h,
/// broadcast.h, reduce.h, sendrecv.h; src/include/collectives.h.
Expected<std::shared_ptr<const Schedule>> lower(const Communicator& communicator,
                                                const LoweringRequest& request);

}  // namespace tutti::core::nccl
