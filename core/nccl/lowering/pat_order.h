#pragma once

#include <cstdint>
#include <vector>

namespace tutti::core::nccl {

/// A step of a thread block in PAT, NCCL's parallel aggregated trees, for one chunk of one rank's
/// block. Ranks communicate with those at distances of powers of two, one dimension each. An
/// all-gather copies a chunk from a message (or its own buffer) to its output and into a message to
/// another rank; a reduce-scatter adds its own contribution to a received chunk, or to one that is
/// already in the message to send, and keeps the sum in a message or as its result.
struct PatStep {
  /// The location of a chunk: position `place` in message number `message` of a loop along
  /// `dimension`. Dimension -1 is the rank's own buffer.
  struct Place {
    int dimension = -1;
    int message = 0;
    int place = 0;
  };
  Place from;
  Place to;
  int ahead = 0;       ///< distance to the rank whose block is processed, in ranks
  bool fresh = false;  ///< first use of the chunk: it is copied to the output (all-gather), or the
                       ///< own contribution is written (reduce-scatter)
  bool from_through = false;  ///< the received message is no longer needed
  bool to_complete = false;   ///< the message can be sent
};

/// The steps of one loop of a channel: a chunk of every rank's block. The order is the same for all
/// ranks.
struct PatOrder {
  int dimensions = 0;
  int per_message = 1;  ///< maximum number of chunks in a message
  std::vector<PatStep> steps;
};

/// Returns the order of an all-gather: along dimension d a rank sends to the rank 2^d before it, or
/// (reduce-scatter) 2^d after it. For small parts, a message has several chunks, as many as fit its
/// slot; chunks that exceed one message use up to eight consecutive ones. `slot_bytes` is the
/// maximum size of a chunk. REQUIRES: at least two ranks, at most 2^20; `part_bytes` and
/// `slot_bytes` are positive.
/// SOURCE: NVIDIA/nccl v2.28.9 src/include/collectives.h, PatAGAlgorithm, PatRSAlgorithm (2.26 and
/// later); src/device/prims_simple.h, patCopy, patReduce.
PatOrder pat_all_gather(int ranks, std::int64_t slot_bytes, std::int64_t part_bytes);
PatOrder pat_reduce_scatter(int ranks, std::int64_t slot_bytes, std::int64_t part_bytes);
/// Returns the order in 2.23 to 2.25; their all-gather is that of later releases. SOURCE:
/// NVIDIA/nccl v2.25.1 src/include/collectives.h, PatRSAlgorithm.
PatOrder pat_reduce_scatter_before_2_26(int ranks, std::int64_t slot_bytes,
                                        std::int64_t part_bytes);

}  // namespace tutti::core::nccl
