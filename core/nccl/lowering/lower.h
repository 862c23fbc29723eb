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

/// The collective to lower. `elements` is the actual number of elements, as the contract counts
/// them. Chunks and channels follow from `planned`, which may be larger, so that a few thousand
/// elements have the loops of millions.
struct LoweringRequest {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Choice choice;  ///< unused for sends and receives
  DataType type = DataType::kFloat32;
  std::int64_t elements = 0;
  std::int64_t planned = 0;
  Rank root = 0;
};

/// Returns the communicator with orders of GPUs in all graphs. A graph without orders gets the
/// orders of `inside`, which are those of one node. If `inside` is empty, the order of channel c is
/// by index, rotated by c, so that channels leave a node through successive cards.
Communicator with_orders(const Communicator& communicator,
                         const std::vector<std::vector<int>>& inside);

/// Returns the steps that NCCL executes, in place if the kind supports it: the channels' parts,
/// loops, chunks, slices and slots, and the peers of all messages. A mean is lowered as a sum,
/// because NCCL divides during the reduction. Supported are:
/// - Ring (all five collectives);
/// - Tree, NVLSTree and CollNetChain (all-reduce);
/// - NVLS and CollNetDirect (all-reduce; all-gather and reduce-scatter if every GPU is a head);
/// - PAT (all-gather, reduce-scatter);
/// - sends and receives (all-to-all, gather, scatter, send-receive), with PXN.
/// REQUIRES: at least two ranks; graphs with orders (with_orders).
/// ERRORS: the request is not supported: symmetric kernels; CollNet before 2.14 or in one node;
/// sends and receives of 2.6, which has none.
/// SOURCE: NVIDIA/nccl v2.28.9 src/device/all_reduce.h, all_gather.h, reduce_scatter.h,
/// broadcast.h, reduce.h, sendrecv.h; src/include/collectives.h.
Expected<std::shared_ptr<const Schedule>> lower(const Communicator& communicator,
                                                const LoweringRequest& request);

}  // namespace tutti::core::nccl
