#pragma once

#include <cstdint>
#include <vector>

namespace tutti::core {

/// A range of a gradient's elements in a pack.
struct Member {
  int variable = 0;        ///< index into Workload::gradients
  std::int64_t first = 0;  ///< offset in the gradient, in elements
  std::int64_t count = 0;
  std::int64_t offset = 0;  ///< offset in the pack, in elements
};

/// The content of a pack before its collective is chosen.
struct Bucket {
  std::vector<Member> members;  ///< all members have the same type
  bool copied_in = false;       ///< true: gradients are copied into the bucket
  bool copied_out = false;      ///< true: gradients are copied back from the bucket
  bool needs_all_gradients = false;
  int also_needs = -1;  ///< index of the gradient that did not fit, which must also be ready before
                        ///< the bucket is closed; -1: none
};

}  // namespace tutti::core
