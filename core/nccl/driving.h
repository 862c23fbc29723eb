#pragma once

#include <optional>
#include <string_view>

namespace tutti::core::nccl {

/// The way in which processes and threads call NCCL for the GPUs of a node.
enum class Driving {
  kProcessPerGpu,  ///< one process per GPU, as with frameworks and MPI
  kThreadPerGpu,   ///< one process with one thread per GPU (nccl-tests -t)
  kOneThread,      ///< one thread that launches on all GPUs, one after the other (nccl-tests -g)
};

/// Returns "process_per_gpu", "thread_per_gpu" or "one_thread".
inline std::string_view to_string(Driving driving) {
  switch (driving) {
    case Driving::kProcessPerGpu: return "process_per_gpu";
    case Driving::kThreadPerGpu: return "thread_per_gpu";
    case Driving::kOneThread: break;
  }
  return "one_thread";
}

/// Returns the Driving value with this name; nullopt if no value has this name.
inline std::optional<Driving> parse_driving(std::string_view name) {
  for (const Driving one : {Driving::kProcessPerGpu, Driving::kThreadPerGpu, Driving::kOneThread}) {
    if (name == to_string(one)) return one;
  }
  return std::nullopt;
}

}  // namespace tutti::core::nccl
