#pragma once

#include <cstdint>

namespace tutti::real {

/// The number of repetitions of a collective in a benchmark. All iterations run back to back and
/// use the same buffers.
struct LoopOptions {
  std::int32_t iterations = 20;  ///< number of timed iterations, at least 1
  std::int32_t warm_up = 5;      ///< number of iterations before the timed iterations
};

}  // namespace tutti::real
