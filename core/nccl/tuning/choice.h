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

/// One call, or several of a group that NCCL takes together.
struct Operation {
  Function function = Function::kAllReduce;
  /// Of the larger side: an all-gather's and a reduce-scatter's are those of all ranks together.
  std::int64_t bytes = 0;
  ElementType type = ElementType::kFloat32;
  Reduction reduction = Reduction::kSum;
  /// How many collectives in a row a channel has to do: above 1 in a group of many (aggregate.h).
  int pipelined = 1;
};

/// What could be chosen, and what NCCL thinks that it takes.
struct Candidate {
  Algorithm algorithm = Algorithm::kRing;
  Protocol protocol = Protocol::kSimple;
  float latency_us = 0;
  float bandwidth = 0;        ///< at this size, GB/s (1e9) of the collective's bytes
  float time_us = 0;          ///< NCCL's estimate
  const char* off = nullptr;  ///< why it is not to be had; the figures are 0 then
};

struct Choice {
  Algorithm algorithm = Algorithm::kRing;
  Protocol protocol = Protocol::kSimple;
  int channels = 1;  ///< at most
  int threads = 0;   ///< of each
  float estimate_us = 0;
  bool tuned = false;  ///< by a tuner plugin
  /// What moves the data between symmetric buffers in place of algorithm and protocol: a kernel
  /// ("AllReduce_RSxLD_AGxST") or "copy engines"; empty: they do not, and algorithm and protocol
  /// say all. `channels` are its thread blocks.
  std::string_view symmetric = {};
};

/// All algorithms and protocols in NCCL's order.
/// SOURCE: NVIDIA/nccl src/graph/tuning.cc, ncclTopoGetAlgoTime; src/enqueue.cc,
/// updateCollCostTable.
std::vector<Candidate> candidates(const Communicator& communicator, const Model& model,
                                  const Operation& operation);

/// What the model's tuner picks, or else the first of the fastest, with its channels and threads.
/// Of one rank nothing moves: Ring, Simple, 0 us. ERRORS: the settings leave nothing (from 2.24 on,
/// as NCCL then). SOURCE: NVIDIA/nccl src/enqueue.cc, topoGetAlgoInfo (getAlgoInfo until 2.20).
Expected<Choice> choose(const Communicator& communicator, const Model& model,
                        const Operation& operation);

}  // namespace tutti::core::nccl
