#pragma once

#include <cstdint>
#include <vector>

namespace tutti::core {

/// A stretch of one gradient inside a pack.
struct Member {
  int variable = 0;        ///< index into Workload::gradients
  std::int64_t first = 0;  ///< element of the gradient
  std::int64_t count = 0;
  std::int64_t offset = 0;  ///< element of the pack
};

/// What travels as one buffer, before it is known how.
struct Bucket {
  std::vector<Member> members;  ///< of one type
  bool copied_in = false;       ///< gradients are copied into the bucket
  bool copied_out = false;      ///< … and back
  bool needs_all_gradients = false;
  int also_needs = -1;  ///< a gradient of another bucket that must be ready, too: the one that did not fit
};

}  // namespace tutti::core
