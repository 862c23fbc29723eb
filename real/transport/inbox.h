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

/// The size of the payload ring of one direction: small enough to stay in the cache, and large
/// enough for several pieces, so that sender and receiver work at the same time.
inline constexpr std::size_t kPayloadBytes = 512 << 10;
/// The size of the line ring: small enough for the first-level cache, with room for the headers of
/// more pieces than fit into the payload ring.
inline constexpr std::size_t kLineBytes = 16 << 10;

/// In a worker's inbox: wakes the worker when it sleeps. Lies in shared memory.
struct alignas(kLine) Bell {
  std::atomic<std::uint32_t> rung;
  std::atomic<std::uint32_t> sleeping;
};

/// The memory that one worker shares with a peer: a ring to write to in the peer's inbox, and one
/// to read from in its own.
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
  Bell* bell = nullptr;  ///< the peer's bell
};

/// A worker's inbox in memory that it shares with all others: a bell, and a ring for each peer.
class Inbox {
 public:
  /// Creates an inbox for a run of `workers` workers, and exchanges it with the peers' inboxes over
  /// their sockets; every peer does the same. ERRORS: no memory; a peer does not do so within
  /// `patience`; its memory cannot be accessed.
  static core::Expected<Inbox> exchange(std::size_t workers, std::size_t own,
                                        const std::vector<InboxPeer*>& peers, Patience& patience);

  Bell& bell() { return *reinterpret_cast<Bell*>(front_.begin()); }

 private:
  explicit Inbox(Mapping front) : front_(std::move(front)) {}
  Mapping front_;
};

}  // namespace tutti::real
