#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::core {

/// The maximum number of threads per connection of NCCL over TCP. SOURCE: NVIDIA/nccl
/// src/transport/net_socket.cc, MAX_THREADS.
inline constexpr int kMaxNcclSocketThreads = 16;
/// The maximum number of sockets per connection, of all threads together. SOURCE: the same file,
/// MAX_SOCKETS.
inline constexpr int kMaxNcclSockets = 64;

/// The number of threads per connection of NCCL over TCP, and the number of sockets per thread.
struct NcclSockets {
  int threads = 1;
  int per_thread = 1;

  bool operator==(const NcclSockets&) const = default;
};

/// The same two numbers, each of which may be unspecified.
struct NcclSocketNumbers {
  std::optional<std::int64_t> threads;
  std::optional<std::int64_t> per_thread;
};

/// Returns the numbers that NCCL uses. `set` contains the values of NCCL_SOCKET_NTHREADS and
/// NCCL_NSOCKS_PERTHREAD; `of_cards` contains the numbers that NCCL uses by default with the
/// network cards. If both leave a number unspecified, NCCL uses no threads, and one socket per
/// thread. Without threads or without sockets, the main thread of a connection sends over a single
/// socket, so the result is one thread with one socket. If NCCL lowers or ignores a number, a note
/// for the user is added to `notes`. SOURCE: NVIDIA/nccl src/transport/net_socket.cc,
/// ncclNetSocketGetNsockNthread (2.5 and later). REQUIRES: no number is negative.
NcclSockets nccl_sockets(const NcclSocketNumbers& set, const NcclSocketNumbers& of_cards,
                         std::vector<std::string>& notes);

}  // namespace tutti::core
