#pragma once

#include <memory>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// The all-reduce of a switch that can reduce and multicast messages (NVLink SHARP): rank r owns
/// shard r of n. Every rank signals to all others that its data is ready; then rank r has the
/// switch sum shard r over all ranks and multicasts the sum. Every rank sends its buffer once (to
/// be summed) plus one shard, and receives one shard plus the other ranks' sums: about N each way
/// instead of the ring's 2(n - 1)/n · N.
/// Lanes: 0 sums and multicasts, 1 collects the others' signals, 2 + r receives shard r.
/// SOURCE: the NVLS algorithm of NCCL, NVIDIA/nccl src/device/all_reduce.h.
std::unique_ptr<Schedule> in_switch_all_reduce(std::int32_t ranks, std::int64_t elements);

}  // namespace tutti::core
