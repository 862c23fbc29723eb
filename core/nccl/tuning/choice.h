#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/nccl/tuning/model.h"
#include "core/schedule/reduction.h"

namespace tutti::core::nccl {

/// NCCL's types of elements.
enum class ElementType {
  kInt8,
  kUint8,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kFloat16,
  kFloat32,
  kFloat64,
  kBfloat16,
  kFloat8e4m3,
  kFloat8e5m2,
};

/// The input of NCCL's choice: a collective call, or several calls of a group that NCCL aggregates.
struct Operation {
  Function function = Function::kAllReduce;
  /// The size of the larger buffer in bytes. For an all-gather or reduce-scatter, the size includes
  /// the blocks of all ranks.
  std::int64_t bytes = 0;
  ElementType type = ElementType::kFloat32;
  Reduction reduction = Reduction::kSum;
  /// The number of collectives that run one after the other on a channel; above 1 only in large
  /// groups (aggregate.h).
  int pipelined = 1;
};

/// A combination of algorithm and protocol that NCCL considers, with NCCL's estimate of its time.
struct Candidate {
  Algorithm algorithm = Algorithm::kRing;
  Protocol protocol = Protocol::kSimple;
  float latency_us = 0;
  float bandwidth =
      0;  ///< algorithm bandwidth for this size, in GB/s (1e9): the size divided by the time
  float time_us = 0;  ///< NCCL's estimate of the time
  /// The reason why the candidate is unavailable; null if it is available. All numbers of an
  /// unavailable candidate are 0.
  const char* off = nullptr;
};

struct Choice {
  Algorithm algorithm = Algorithm::kRing;
  Protocol protocol = Protocol::kSimple;
  int channels = 1;  ///< maximum number of channels
  int threads = 0;   ///< threads per channel
  float estimate_us = 0;
  bool tuned = false;  ///< true if a tuner plugin has made the choice
  /// The name of the symmetric kernel ("AllReduce_RSxLD_AGxST"), or "copy engines", that NCCL uses
  /// instead of an algorithm and a protocol. `channels` is then the kernel's number of thread
  /// blocks. The name is empty if NCCL uses the algorithm and the protocol.
  std::string_view symmetric = {};
};

/// Returns all combinations of an algorithm and a protocol, in NCCL's order.
/// SOURCE: NVIDIA/nccl src/graph/tuning.cc, ncclTopoGetAlgoTime; src/enqueue.cc,
/// updateCollCostTable.
std::vector<Candidate> candidates(const Communicator& communicator, const Model& model,
                                  const Operation& operation);

/// Returns the choice of the model's tuner if the tuner makes one. If the tuner makes no choice,
/// returns the first of the fastest candidates. The result includes channels and threads. For a
/// single rank, the result is Ring, Simple and 0 us. ERRORS: the settings exclude all candidates
/// (as in NCCL 2.24 and later).
/// SOURCE: NVIDIA/nccl src/enqueue.cc, topoGetAlgoInfo (getAlgoInfo until 2.20).
Expected<Choice> choose(const Communicator& communicator, const Model& model,
                        const Operation& operation);

}  // namespace tutti::core::nccl
