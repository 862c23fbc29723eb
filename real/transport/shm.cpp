// ring.cpp moves bytes between processes. This file decides when to look for messages, when to
// sleep, and when to wake a peer. A check whether a peer sleeps costs a full memory fence, and
// waking the peer costs a system call. After a long piece, the sender performs the check and the
// wake-up immediately. After a short message, the check is deferred to a later call of poll()
// (`polls_without_wake`), so that several messages share the cost. A worker announces its sleep,
// and then looks for messages once more. The sleeping worker and the sender both use fences, so
// either the worker sees the message, or the sender sees that the worker sleeps. A sleep lasts at
// most 10 ms, after which the sockets show whether a peer is gone. Peers are not trusted: an
// invalid message ends the run.

#include "real/transport/shm.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <deque>

#include <fmt/format.h>

#include "core/base/check.h"
#include "real/transport/inbox.h"
#include "real/transport/local.h"

namespace tutti::real {

using core::Error;
using core::Expected;

namespace {

/// Size of a piece; several pieces fit into a ring (inbox.h).
constexpr std::int64_t kShmPieceBytes = 64 << 10;
/// After a short message to a sleeping peer, the number of further calls of poll() that move data
/// before the peer is woken.
constexpr int kMaxPollsBeforeWake = 2;
/// The interval at which a sleeping worker wakes to check that its peers are alive.
constexpr std::chrono::milliseconds kLongestShmSleep{10};
/// The number of polls between two yields of the core, if there is a core for every worker.
/// Otherwise every poll is followed by a yield.
constexpr int kLooks = 30;

/// Returns the number of cores that this process may run on.
int cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t value,
                std::chrono::nanoseconds most) {
  const timespec time{most.count() / 1'000'000'000, most.count() % 1'000'000'000};
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, value, &time, nullptr,
            0);
}

void futex_wake(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

struct ShmTransport::State {
  struct Outgoing {
    Header header;
    const std::byte* payload = nullptr;
    Ticket ticket = 0;
    bool has_ticket = false;
  };

  struct Peer : InboxPeer {
    using InboxPeer::InboxPeer;
    bool has_news = false;  ///< true: messages were sent to the peer since the peer was last woken
    bool has_room = false;  ///< true: space for the peer's messages has become free since the peer
                            ///< was last woken
    std::deque<Outgoing> queue;
  };

  std::vector<std::unique_ptr<Peer>> peers;  ///< by worker; null for this worker
  std::vector<Peer*> others;
  std::vector<pollfd> sockets;  ///< by index in `others`
  std::vector<std::int32_t> worker_of;
  WaitOptions options;
  std::optional<Inbox> inbox;
  LocalTransport local;
  Receiver* receiver = nullptr;
  std::optional<Error> failure;
  bool crowded = true;  ///< true: there are more workers than cores
  /// The number of calls of poll() since a peer that may be asleep got messages, or space for its
  /// messages; 0 if there is no such peer.
  int polls_without_wake = 0;

  Peer* peer_of(core::Rank rank) { return peers[worker_of[rank]].get(); }

  [[nodiscard]] bool is_of(const Peer& peer, core::Rank rank) const {
    const std::size_t place = rank;
    return place < worker_of.size() && worker_of[place] == peer.worker;
  }

  /// Records an error that the peer caused: the peer is gone, or it violates the protocol.
  void fail(const Peer& peer, core::ProblemCode code, const std::string& what) {
    if (!failure)
      failure = Error::run({code, "", peer.worker}, fmt::format("worker {} {}", peer.worker, what));
  }

  // --- moving ---

  /// Wakes peers that are asleep and have new messages. The fence waits until the stores of the
  /// messages have left this core. After short messages, poll() calls this function only when there
  /// is no other work.
  void wake_peers() {
    polls_without_wake = 0;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    for (Peer* const peer : others) {
      const bool got_room = std::exchange(peer->has_room, false) && peer->in->writer_waits();
      if (std::exchange(peer->has_news, false) || got_room) ring(*peer);
    }
  }

  /// Wakes the peer if it sleeps. Before the call, the caller must have written the data that the
  /// peer has to see, followed by a memory fence.
  static void ring(const Peer& peer) {
    if (peer.wake_futex->sleeping.load(std::memory_order_relaxed) == 0) return;
    peer.wake_futex->wakeups.fetch_add(1, std::memory_order_release);
    futex_wake(peer.wake_futex->wakeups);
  }

  void publish(Peer& peer, const Header& header) {
    peer.out->publish(header);
    if (header.piece.length > kMaxAmongLines) {
      std::atomic_thread_fence(std::memory_order_seq_cst);
      return ring(peer);
    }
    peer.has_news = true;
    polls_without_wake = std::max(polls_without_wake, 1);
  }

  bool put(Peer& peer, const Header& header, const std::byte* payload) {
    std::byte* const room = peer.out->reserve(header);
    if (!room) return false;
    if (payload && header.piece.length > 0)
      std::memcpy(room, payload, static_cast<std::size_t>(header.piece.length));
    publish(peer, header);
    return true;
  }

  bool write(Peer& peer) {
    bool moved = false;
    while (!peer.queue.empty()) {
      const Outgoing out = peer.queue.front();
      if (!put(peer, out.header, out.payload)) break;
      moved = true;
      peer.queue.pop_front();
      if (out.has_ticket) receiver->sent(out.ticket);
    }
    return moved;
  }

  /// Takes messages from the ring, but at most as many bytes as the ring holds, so that other rings
  /// are not delayed.
  bool read(Peer& peer) {
    bool moved = false;
    std::size_t taken = 0;
    while (taken < kPayloadBytes && !failure) {
      const auto message = peer.in->front();
      if (!message) {
        if (peer.in->broken())
          fail(peer, core::ProblemCode::kProtocol,
               "wrote data into its ring that is not a message of Tutti");
        break;
      }
      const Piece& piece = message->header.piece;
      const bool is_piece = message->header.kind == Header::Kind::kPiece;
      if (is_piece && receiver->is_expected_early(piece.channel.collective)) break;
      moved = true;
      if (!is_piece) {
        if (!is_of(peer, piece.channel.to) || !receiver->slot_freed(piece.channel))
          fail(peer, core::ProblemCode::kProtocol, "released a slot that was not in use");
      } else if (!is_of(peer, piece.channel.from)) {
        fail(peer, core::ProblemCode::kProtocol,
             fmt::format("sent a message in the name of rank {}, which belongs to another worker",
                         piece.channel.from));
      } else if (!receiver->take(piece, message->payload)) {
        fail(peer, core::ProblemCode::kProtocol,
             fmt::format("sent a message that is not in its schedule (pack {}, from rank {} to "
                         "rank {}, {} of {} bytes)",
                         piece.channel.collective.pack, piece.channel.from, piece.channel.to,
                         piece.length, piece.total));
      }
      taken += kLine + static_cast<std::size_t>(piece.length);
      peer.in->release();
    }
    if (moved) {
      peer.has_room = true;
      polls_without_wake = std::max(polls_without_wake, 1);
    }
    return moved;
  }

  bool move() {
    bool moved = false;
    for (Peer* const peer : others) {
      if (!peer->queue.empty()) moved = write(*peer) || moved;
      if (!peer->in->empty()) moved = read(*peer) || moved;
    }
    return moved;
  }

  /// Calls move() several times.
  bool look() {
    for (int i = 0; i < (crowded ? 1 : kLooks); ++i) {
      if (move() || failure) return true;
      relax();
    }
    return false;
  }

  // --- waiting ---

  void sleep(Clock::time_point until) {
    WakeFutex& wake_futex = inbox->wake_futex();
    // Load the futex's value before the last check for messages. If a peer changes the value after
    // this load, futex_wait() returns immediately.
    const std::uint32_t wakeups = wake_futex.wakeups.load(std::memory_order_acquire);
    for (Peer* const peer : others) {
      if (!peer->queue.empty()) peer->out->wait_for_room(true);
    }
    wake_futex.sleeping.store(1, std::memory_order_seq_cst);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    // Check for messages that arrived before peers could see that this worker sleeps.
    const auto left = std::min<std::chrono::nanoseconds>(until - Clock::now(), kLongestShmSleep);
    if (!move() && !failure && left.count() > 0) {
      futex_wait(wake_futex.wakeups, wakeups, left);
      if (wake_futex.wakeups.load(std::memory_order_relaxed) == wakeups) look_after_peers();
    }
    wake_futex.sleeping.store(0, std::memory_order_relaxed);
    for (Peer* const peer : others) peer->out->wait_for_room(false);
  }

  /// Checks for closed connections. The connections carry no data, and close when the peer's
  /// process ends.
  void look_after_peers() {
    if (::poll(sockets.data(), sockets.size(), 0) <= 0) return;
    for (std::size_t i = 0; i < others.size(); ++i) {
      if (sockets[i].revents == 0) continue;
      // Messages that the peer wrote before it ended are still valid.
      if (!read(*others[i]) && others[i]->in->empty())
        fail(*others[i], core::ProblemCode::kLost, "has closed its connection");
    }
  }
};

ShmTransport::ShmTransport(std::unique_ptr<State> state) : state_(std::move(state)) {}
ShmTransport::~ShmTransport() = default;

Expected<std::unique_ptr<ShmTransport>> ShmTransport::open(std::vector<int> sockets,
                                                           std::int32_t worker,
                                                           std::vector<std::int32_t> worker_of,
                                                           const WaitOptions& options,
                                                           SetupDeadline deadline) {
  auto state = std::make_unique<State>();
  state->worker_of = std::move(worker_of);
  state->options = options;
  state->peers.resize(sockets.size());
  state->crowded = sockets.size() > static_cast<std::size_t>(cores());
  for (std::size_t w = 0; w < sockets.size(); ++w) {
    if (sockets[w] < 0) continue;
    auto peer = std::make_unique<State::Peer>(static_cast<std::int32_t>(w), sockets[w]);
    state->others.push_back(peer.get());
    state->sockets.push_back({sockets[w], POLLIN, 0});
    state->peers[w] = std::move(peer);
  }
  auto inbox = Inbox::exchange(sockets.size(), static_cast<std::size_t>(worker),
                               {state->others.begin(), state->others.end()}, deadline);
  if (!inbox) return tl::make_unexpected(inbox.error());
  state->inbox.emplace(std::move(*inbox));
  return std::unique_ptr<ShmTransport>(new ShmTransport(std::move(state)));
}

void ShmTransport::connect(Receiver& receiver, Devices& devices) {
  state_->receiver = &receiver;
  state_->local.connect(receiver, devices);
}

bool ShmTransport::is_local(core::Rank rank) const { return !state_->peer_of(rank); }
std::int64_t ShmTransport::piece_bytes() const { return kShmPieceBytes; }

bool ShmTransport::send(const Piece& piece, const std::byte* payload, Ticket ticket) {
  State::Peer* const peer = state_->peer_of(piece.channel.to);
  if (!peer) return state_->local.send(piece, payload, ticket);
  TUTTI_CHECK(piece.length <= static_cast<std::int64_t>(kPayloadBytes),
              "a piece of {} bytes for a ring of {}", piece.length, kPayloadBytes);
  const Header header{Header::Kind::kPiece, piece};
  if (peer->queue.empty() && state_->put(*peer, header, payload)) return true;
  peer->queue.push_back({header, payload, ticket, true});
  return false;
}

std::byte* ShmTransport::reserve(const Piece& piece) {
  State::Peer* const peer = state_->peer_of(piece.channel.to);
  return peer && peer->queue.empty() ? peer->out->reserve({Header::Kind::kPiece, piece}) : nullptr;
}

void ShmTransport::publish(const Piece& piece) {
  state_->publish(*state_->peer_of(piece.channel.to), {Header::Kind::kPiece, piece});
}

void ShmTransport::free_slot(const Channel& channel) {
  State::Peer* const peer = state_->peer_of(channel.from);
  if (!peer) return state_->local.free_slot(channel);
  Header header;
  header.kind = Header::Kind::kSlot;
  header.piece.channel = channel;
  if (!peer->queue.empty() || !state_->put(*peer, header, nullptr))
    peer->queue.push_back({header, nullptr, 0, false});
}

Expected<void> ShmTransport::poll(Clock::time_point until) {
  State& s = *state_;
  const bool had_local = !s.local.flushed();
  if (had_local) static_cast<void>(s.local.poll({}));
  bool moved = s.move() || had_local;
  // Without a time limit, do not read the clock before the first attempts, because reading the
  // clock takes as long as a short message.
  const bool patient = until == Clock::time_point::max();
  if (s.polls_without_wake > 0 && (!moved || ++s.polls_without_wake > kMaxPollsBeforeWake)) {
    s.wake_peers();
    moved = moved || !patient;  // the caller may wait only until peers are woken (see flushed())
  }
  if (!moved && patient) {
    if (s.crowded) ::sched_yield();
    moved = s.look();
  }
  if (!moved && !s.failure) {
    const Clock::time_point now = Clock::now();
    if (now < until) {
      moved = (!patient && s.look()) ||
              poll_until(std::min(until, now + s.options.spin), [&] { return s.look(); });
      if (!moved && !s.failure) {
        s.sleep(until);
        s.move();
      }
    }
  }
  if (s.failure) return tl::make_unexpected(*s.failure);
  return {};
}

bool ShmTransport::flushed() const {
  for (const State::Peer* const peer : state_->others) {
    if (!peer->queue.empty()) return false;
  }
  return state_->polls_without_wake == 0 && state_->local.flushed();
}

}  // namespace tutti::real
