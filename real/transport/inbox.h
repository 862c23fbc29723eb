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

/// Payloads of one direction. Small enough that what goes through it stays in the cache; of several pieces, so that sender
/// and receiver work at the same time.
inline constexpr std::size_t kPayloadBytes = 512 << 10;
/// Small enough for the first level of the cache; room for the headers of more pieces than the payloads have room for.
inline constexpr std::size_t kLineBytes = 16 << 10;

/// In the inbox of whoever sleeps. Lies in shared memory.
struct alignas(kLine) Bell {
  std::atomic<std::uint32_t> rung;
  std::atomic<std::uint32_t> sleeping;
};

/// What one worker shares with another: a ring in the other's inbox to write to, and one in its own to read from.
struct InboxPeer {
  InboxPeer(std::int32_t w, int s) : worker(w), socket(s) {}
  InboxPeer(const InboxPeer&) = delete;
  ~InboxPeer();

  std::int32_t worker;
  int socket;  ///< its own
  Mapping front;
  Mapping out_lines, out_payloads;
  Mapping in_lines, in_payloads;
  std::optional<RingWriter> out;
  std::optional<RingReader> in;
  Bell* bell = nullptr;  ///< the other's
};

/// A worker's inbox in memory that it shares with all others: a bell, and a ring for each of them.
class Inbox {
 public:
  /// Makes one for a run of so many workers, and exchanges it with theirs over the peers' sockets, who do the same.
  /// ERRORS: no memory; a peer does not do so while there is patience; its memory cannot be reached.
  static core::Expected<Inbox> exchange(std::size_t workers, std::size_t own, const std::vector<InboxPeer*>& peers,
                                        Patience& patience);

  Bell& bell() { return *reinterpret_cast<Bell*>(front_.begin()); }

 private:
  explicit Inbox(Mapping front) : front_(std::move(front)) {}
  Mapping front_;
};

}  // namespace tutti::real
