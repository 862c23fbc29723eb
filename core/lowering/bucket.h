#pragma once

#include <cstdint>
#include <vector>

namespace tutti::core {

/// A contiguous range of a gradient's elements, and the position of this range in the bucket or
/// pack that contains it.
struct Member {
  int variable = 0;        ///< index into Workload::gradients
  std::int64_t first = 0;  ///< offset of the range in the gradient, in elements
  std::int64_t count = 0;
  std::int64_t offset = 0;  ///< offset of the range in the bucket or pack, in elements
};

/// The gradients that will form a pack, before a collective is chosen for them.
struct Bucket {
  std::vector<Member> members;  ///< the gradients in the bucket, all of the same data type
  bool copied_in = false;       ///< true: each gradient is copied into the bucket before the
                                ///< collective
  bool copied_out = false;      ///< true: each gradient is copied out of the bucket after the
                                ///< collective
  bool needs_all_gradients = false;
  int also_needs = -1;  ///< index of the gradient that did not fit into the bucket; it must be
                        ///< ready before the bucket is closed; -1: none
};

}  // namespace tutti::core
