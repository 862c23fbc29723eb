#pragma once

#include <cstdint>
#include <vector>

namespace tutti::core {

/// A range of a gradient's elements in a pack.
struct Member {
  int variable = 0;        ///< index into Workload::gradients
  std::int64_t first = 0;  ///< first element within the gradient
  std::int64_t count = 0;
  std::int64_t offset = 0;  ///< first element within the pack
};

/// The content of a pack, before its collective is chosen.
struct Bucket {
  std::vector<Member> members;  ///< members, which all have the same type
  bool copied_in = false;       ///< gradients are copied into the bucket
  bool copied_out = false;      ///< gradients are copied back from the bucket
  bool needs_all_gradients = false;
  int also_needs = -1;  ///< index of one more gradient that must be ready, because it did not fit
                        ///< into the bucket; -1: none
};

}  // namespace tutti::core
