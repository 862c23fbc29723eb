#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/nccl/version.h"

namespace tutti::core::nccl {

/// Returns the number of threads that NCCL uses if the variable `name` has the value `text`. The
/// number is a multiple of the warp size between `least` and `most`. Returns nullopt if the value
/// is invalid or not positive; NCCL then uses its default. Adds a note if NCCL replaces the given
/// value by another. SOURCE: NVIDIA/nccl src/graph/tuning.cc, getNthreads; src/misc/param.cc,
/// ncclLoadParam.
std::optional<std::int64_t> threads_as_taken(const std::string& name, const std::string& text,
                                             int least, int most, std::vector<std::string>& notes);

/// Returns the buffer size in bytes that NCCL uses if the variable `name` has the value `text`.
/// NCCL does not check the buffer size. Sizes that cannot work (empty slots, more than 32 bits) are
/// reported in `problems`. SOURCE: NVIDIA/nccl src/init.cc, computeBuffSizes; src/enqueue.cc,
/// calcCollChunking.
std::optional<std::int64_t> buffer_as_taken(const std::string& name, const std::string& text,
                                            Version version, std::vector<std::string>& notes,
                                            Problems& problems);

}  // namespace tutti::core::nccl
