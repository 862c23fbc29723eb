#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "real/transport/ring.h"
#include "real/transport/shared_memory.h"
#include "real/transport/waiting.h"

namespace tutti::real {

/// The size in bytes of one direction's ring of payloads (ring.h). The ring is small enough to stay
/// in the cache, and large enough for several pieces, so that sender and receiver can work at the
/// same time.
inline constexpr std::size_t kPayloadBytes = 512 << 10;
/// The size in bytes of one direction's ring of cache lines. This ring fits into the first-level
/// cache, and has space for the headers of 256 pieces.
inline constexpr std::size_t kLineBytes = 16 << 10;

/// A futex in a worker's inbox in shared memory, by which peers wake the worker when it sleeps.
struct alignas(kLine) WakeFutex {
  std::atomic<std::uint32_t> wakeups;
  std::atomic<std::uint32_t> sleeping;
};

/// The memory that a worker shares with one peer: a ring in the peer's inbox, to which the worker
/// writes, and a ring in the worker's own inbox, from which it reads.
struct InboxPeer {
  InboxPeer(std::int32_t w, int s) : worker(w), socket(s) {}
  InboxPeer(const InboxPeer&) = delete;
  ~InboxPeer();

  std::int32_t worker;
  int socket;  ///< socket connected to the peer; owned
  Mapping front;
  Mapping out_lines, out_payloads;
  Mapping in_lines, in_payloads;
  std::optional<RingWriter> out;
  std::optional<RingReader> in;
  WakeFutex* wake_futex = nullptr;  ///< the peer's wake_futex
};

/// A worker's inbox, in memory shared with all other workers. The inbox has one futex for waking
/// the worker, and a ring buffer for each peer.
class Inbox {
 public:
  /// Creates the inbox of worker `own` in a run of `workers` workers, and exchanges inboxes with
  /// the peers over their sockets. Every peer has to call this function too. ERRORS: no memory is
  /// left; a peer does not answer within `deadline`; a peer's memory cannot be accessed.
  static core::Expected<Inbox> exchange(std::size_t workers, std::size_t own,
                                        const std::vector<InboxPeer*>& peers,
                                        SetupDeadline& deadline);

  WakeFutex& wake_futex() { return *reinterpret_cast<WakeFutex*>(front_.begin()); }

 private:
  explicit Inbox(Mapping front) : front_(std::move(front)) {}
  Mapping front_;
};

}  // namespace tutti::real
