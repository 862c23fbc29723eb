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

/// The collective to lower. `elements` is the actual number of elements, counted as in
/// core/schedule/contract.h. NCCL's chunks and channels are computed as for a collective of
/// `planned` elements, which may be more than `elements`. A schedule with a few thousand elements
/// can thus have the same loops and channels as a call with millions of elements.
struct LoweringRequest {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Choice choice;  ///< unused for sends and receives
  DataType type = DataType::kFloat32;
  std::int64_t elements = 0;
  std::int64_t planned = 0;
  Rank root = 0;
};

/// Returns the communicator with an order of GPUs for every channel of its graphs. Graphs that have
/// no orders get the orders `inside`, which list the GPUs of one node. If `inside` is empty,
/// channel c visits the GPUs in index order, rotated by c, so that successive channels leave a node
/// through successive cards.
Communicator with_orders(const Communicator& communicator,
                         const std::vector<std::vector<int>>& inside);

/// Returns the schedule that NCCL executes for a collective. The schedule is in place if the kind
/// of collective can be in place. The schedule reproduces NCCL's division of data into channels,
/// loops, chunks and slices, the slots of NCCL's connections, and NCCL's order of peers. A mean is
/// lowered as a sum, because NCCL divides during the reduction.
///
/// Ring supports all-reduce, all-gather, reduce-scatter, broadcast and reduce. Tree, NVLSTree and
/// CollNetChain support the all-reduce. NVLS and CollNetDirect support the all-reduce, and also the
/// all-gather and the reduce-scatter if every GPU is a head. PAT supports the all-gather and the
/// reduce-scatter. All-to-all, gather, scatter and send-receive are lowered as sends and receives,
/// with PXN. REQUIRES: at least two ranks; graphs with orders of GPUs (see with_orders()). ERRORS:
/// the request is not supported. Three kinds of requests are not supported: symmetric kernels;
/// CollNet before 2.14 or in one node; and sends and receives in 2.6, because NCCL 2.6 has no sends
/// and receives. SOURCE: NVIDIA/nccl v2.28.9 src/device/all_reduce.h, all_gather.h,
/// reduce_scatter.h, broadcast.h, reduce.h, sendrecv.h; src/include/collectives.h.
Expected<std::shared_ptr<const Schedule>> lower(const Communicator& communicator,
                                                const LoweringRequest& request);

}  // namespace tutti::core::nccl
