#pragma once

#include <cstdint>
#include <vector>

namespace tutti::core::nccl {

/// A step of a thread block in PAT (NCCL's parallel aggregated trees). A PAT step processes one
/// chunk of one rank's block. A rank communicates only with ranks whose distance is a power of two,
/// 2^d; d is called the dimension. In an all-gather, a step takes a chunk from a received message
/// or from the rank's own buffer, and forwards it in a message to another rank. The first step that
/// uses a received chunk also copies it to the output. In a reduce-scatter, a step adds a received
/// chunk to the message to send or to the result. The first step for a chunk of a message to send
/// writes the rank's own contribution into the message.
struct PatStep {
  /// The location of a chunk: position `place` in a message that is sent or received along
  /// `dimension`. `message` is the message's index in the loop. Dimension -1 means the rank's own
  /// buffer.
  struct ChunkLocation {
    int dimension = -1;
    int message = 0;
    int place = 0;
  };
  ChunkLocation from;
  ChunkLocation to;
  int ahead = 0;       ///< distance, in ranks, from the executing rank to the rank whose block is
                       ///< processed
  bool fresh = false;  ///< true if the step is the first that uses its chunk: the chunk at `from`
                       ///< in an all-gather, or the chunk at `to` in a reduce-scatter
  bool from_through = false;  ///< true if the received message is no longer needed after this step
  bool to_complete = false;   ///< true if this step completes the message to send
};

/// The steps of one loop of a channel. In a loop, the channel processes one chunk of every rank's
/// block. The order of steps is the same for all ranks.
struct PatOrder {
  int dimensions = 0;
  int per_message = 1;  ///< maximum number of chunks in a message
  std::vector<PatStep> steps;
};

/// Returns the steps of an all-gather or of a reduce-scatter. Along dimension d, a rank sends to
/// the rank 2^d positions before itself in an all-gather, and to the rank 2^d positions after
/// itself in a reduce-scatter. If a channel's part (`part_bytes`) is small, a message combines as
/// many chunks as fit into a slot of `slot_bytes`. Up to eight consecutive messages carry the
/// chunks of one step of the tree.
/// REQUIRES: 2 to 2^20 ranks; `part_bytes` and `slot_bytes` are positive.
///
/// SOURCE: NVIDIA/nccl v2.28.9 src/include/collectives.h, PatAGAlgorithm, PatRSAlgorithm (2.26 and
/// later); src/device/prims_simple.h, patCopy, patReduce.
PatOrder pat_all_gather(int ranks, std::int64_t slot_bytes, std::int64_t part_bytes);
PatOrder pat_reduce_scatter(int ranks, std::int64_t slot_bytes, std::int64_t part_bytes);
/// Returns the steps of a reduce-scatter in 2.23 to 2.25. The all-gather is the same in all
/// releases from 2.23 on. SOURCE: NVIDIA/nccl v2.25.1 src/include/collectives.h, PatRSAlgorithm.
PatOrder pat_reduce_scatter_before_2_26(int ranks, std::int64_t slot_bytes,
                                        std::int64_t part_bytes);

}  // namespace tutti::core::nccl
