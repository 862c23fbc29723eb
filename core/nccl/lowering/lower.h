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

/// What is to be lowered, and at which size: `elements` as the contract counts them are what there
/// is; `planned` (as many, or more) are what chunks and channels are made for, so that a few
/// thousand elements show the loops of millions.
struct LoweringRequest {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Choice choice;  ///< none is made of sends and receives
  DataType type = DataType::kFloat32;
  std::int64_t elements = 0;
  std::int64_t planned = 0;
  Rank root = 0;
};

/// The communicator with orders of GPUs, where its graphs have none: `inside` if there are any (of
/// one node), else by index, one further on with every channel, so that channels leave a node at
/// one card after the other.
Communicator with_orders(const Communicator& communicator,
                         const std::vector<std::vector<int>>& inside);

/// The steps that NCCL would execute, in place if the kind can be: parts of channels, loops, chunks
/// and slices, slots, and who sends to whom. Ring (all five collectives), Tree, NVLSTree and
/// CollNetChain (all-reduce), NVLS and CollNetDirect (all-reduce; all-gather and reduce-scatter
/// where every GPU is a head), PAT (all-gather, reduce-scatter), and sends and receives
/// (all-to-all, gather, scatter, send-receive) with PXN. A mean is the sum: NCCL divides on the
/// way. REQUIRES: at least two ranks; orders (with_orders). ERRORS: what is not lowered: CollNet
/// before 2.14, NVLS between nodes, and sends and receives of 2.6, which has none. SOURCE:
/// NVIDIA/nccl v2.28.9 src/device/all_reduce.h, all_gather.h, reduce_scatter.h, broadcast.h,
/// reduce.h, sendrecv.h; src/include/collectives.h.
Expected<std::shared_ptr<const Schedule>> lower(const Communicator& communicator,
                                                const LoweringRequest& request);

}  // namespace tutti::core::nccl
