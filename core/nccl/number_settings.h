#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/nccl/version.h"

namespace tutti::core::nccl {

/// What NCCL makes of a number of threads that a user sets: whole warps from `least` to `most`;
/// what is no number, or not above 0, is its default (nothing). Where it takes something else than
/// what is written, a note says so. SOURCE: NVIDIA/nccl src/graph/tuning.cc, getNthreads;
/// src/misc/param.cc, ncclLoadParam.
std::optional<std::int64_t> threads_as_taken(const std::string& name, const std::string& text,
                                             int least, int most, std::vector<std::string>& notes);

/// The same of a buffer's bytes, of which NCCL checks nothing: of those that it could not work with
/// (slots without content, more than 32 bits) `problems` tell. SOURCE: NVIDIA/nccl src/init.cc,
/// computeBuffSizes; src/enqueue.cc, calcCollChunking.
std::optional<std::int64_t> buffer_as_taken(const std::string& name, const std::string& text,
                                            Version version, std::vector<std::string>& notes,
                                            Problems& problems);

}  // namespace tutti::core::nccl
