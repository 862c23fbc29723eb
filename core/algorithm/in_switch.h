#pragma once

#include <memory>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// Returns the all-reduce by a switch that can reduce and multicast messages (NVLink SHARP). Rank r
/// owns shard r of n. Every rank signals to all others that its data is ready. Then the switch sums
/// shard r over all ranks on request of rank r, and rank r multicasts the sum. Every rank sends its
/// whole buffer once, for the sums, and multicasts one shard. Every rank receives the sum of its
/// own shard from the switch, and the sums of the other shards from the other ranks. A rank thus
/// sends and receives about N bytes, compared to 2(n - 1)/n · N in a ring. Lanes (concurrent
/// sequences of steps): lane 0 sums and multicasts, lane 1 receives the signals of the other ranks,
/// lane 2 + r receives shard r. SOURCE: the NVLS algorithm of NCCL, NVIDIA/nccl
/// src/device/all_reduce.h.
std::unique_ptr<Schedule> in_switch_all_reduce(std::int32_t ranks, std::int64_t elements);

}  // namespace tutti::core
