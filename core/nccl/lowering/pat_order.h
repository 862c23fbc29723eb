#pragma once

#include <cstdint>
#include <vector>

namespace tutti::core::nccl {

/// A step of a thread block in PAT (NCCL's parallel aggregated trees). A PAT step processes one
/// chunk of one rank's block. A rank communicates only with ranks at distances that are powers of
/// two. Each power is called a dimension. An all-gather takes a chunk from a received message or
/// from the rank's own buffer. An all-gather then copies the chunk to the output and into a message
/// to another rank. A reduce-scatter takes a received chunk or a chunk in the message to send. A
/// reduce-scatter then adds the rank's own contribution to the chunk, and stores the sum in a
/// message or as the result.
struct PatStep {
  /// The location of a chunk: position `place` in the message with index `message` of a loop, along
  /// `dimension`. Dimension -1 means the rank's own buffer.
  struct Place {
    int dimension = -1;
    int message = 0;
    int place = 0;
  };
  Place from;
  Place to;
  int ahead = 0;       ///< distance in ranks to the rank whose block is processed
  bool fresh = false;  ///< true at the first use of a chunk, in which an all-gather copies the
                       ///< chunk to the output, and a reduce-scatter writes the rank's own
                       ///< contribution
  bool from_through = false;  ///< true if the received message is no longer needed after this step
  bool to_complete = false;   ///< true if the message to send is complete after this step
};

/// The steps of one loop of a channel, which processes a chunk of every rank's block. The order of
/// steps is the same for all ranks.
struct PatOrder {
  int dimensions = 0;
  int per_message = 1;  ///< maximum number of chunks in a message
  std::vector<PatStep> steps;
};

/// Returns the order of an all-gather or of a reduce-scatter. Along dimension d, an all-gather
/// sends to the rank 2^d positions before, and a reduce-scatter to the rank 2^d positions after. If
/// parts are small, a message has several chunks. The number of chunks in a message is limited by
/// the size of a slot. Up to eight consecutive messages carry the chunks of one step of the tree.
/// `slot_bytes` is the maximum size of a chunk.
/// REQUIRES: 2 to 2^20 ranks; `part_bytes` and `slot_bytes` are positive.
///
/// SOURCE: NVIDIA/nccl v2.28.9 src/include/collectives.h, PatAGAlgorithm, PatRSAlgorithm (2.26 and
/// later); src/device/prims_simple.h, patCopy, patReduce.
PatOrder pat_all_gather(int ranks, std::int64_t slot_bytes, std::int64_t part_bytes);
PatOrder pat_reduce_scatter(int ranks, std::int64_t slot_bytes, std::int64_t part_bytes);
/// Returns the order of a reduce-scatter in 2.23 to 2.25. The all-gather of 2.23 to 2.25 is the
/// same as in later releases. SOURCE: NVIDIA/nccl v2.25.1 src/include/collectives.h,
/// PatRSAlgorithm.
PatOrder pat_reduce_scatter_before_2_26(int ranks, std::int64_t slot_bytes,
                                        std::int64_t part_bytes);

}  // namespace tutti::core::nccl
