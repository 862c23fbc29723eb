#include "core/cluster/nccl_sockets.h"

#include <fmt/format.h>

namespace tutti::core {

NcclSockets nccl_sockets(const NcclSocketNumbers& set, const NcclSocketNumbers& of_cards,
                         std::vector<std::string>& notes) {
  std::int64_t threads = set.threads.value_or(of_cards.threads.value_or(0));
  std::int64_t per_thread = set.per_thread.value_or(of_cards.per_thread.value_or(1));
  if (threads > kMaxNcclSocketThreads) {
    notes.push_back(
        fmt::format("NCCL_SOCKET_NTHREADS is {}, but NCCL uses at most {} threads per connection; "
                    "the prediction is for {} threads",
                    threads, kMaxNcclSocketThreads, kMaxNcclSocketThreads));
    threads = kMaxNcclSocketThreads;
  }
  if (threads == 0) {
    if (per_thread > 1)
      notes.push_back(fmt::format(
          "NCCL_NSOCKS_PERTHREAD={} has no effect, because {}; set NCCL_SOCKET_NTHREADS to 1 or "
          "more",
          per_thread,
          set.threads ? "NCCL_SOCKET_NTHREADS is 0"
                      : "the prediction is for network cards for which NCCL uses no threads by "
                        "default (all except those of EC2 and Google's gVNIC)"));
    return {};
  }
  if (per_thread == 0) return {};
  // This condition is the same as threads * per_thread > kMaxNcclSockets, but cannot overflow.
  if (per_thread > kMaxNcclSockets / threads) {
    const std::int64_t lowered = kMaxNcclSockets / threads;
    notes.push_back(fmt::format(
        "NCCL_NSOCKS_PERTHREAD is {}, but NCCL uses at most {} sockets per connection; with {} "
        "thread{}, the prediction is for {} sockets per thread",
        per_thread, kMaxNcclSockets, threads, threads == 1 ? "" : "s", lowered));
    per_thread = lowered;
  }
  return {static_cast<int>(threads), static_cast<int>(per_thread)};
}

}  // namespace tutti::core
