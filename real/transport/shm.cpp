#include "real/transport/shm.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <deque>

#include <fmt/format.h>

#include "core/base/check.h"
#include "real/transport/local.h"
#include "real/transport/ring.h"
#include "real/transport/shared_memory.h"

namespace tutti::real {

using core::Error;
using core::Expected;

namespace {

/// Small enough that what goes through it stays in the cache; several pieces, so that sender and receiver work at the
/// same time.
constexpr std::size_t kPayloadBytes = 512 << 10;
constexpr std::int64_t kPieceBytes = 32 << 10;
/// Small enough for the first level of the cache; room for the headers of more pieces than the payloads have room for.
constexpr std::size_t kLineBytes = 16 << 10;
/// So many calls of poll() may go by before a peer that sleeps is woken for what it has got, if they find something to do.
constexpr int kMostUnsettled = 2;
/// A sleeper looks whether its peers are still there so often.
constexpr std::chrono::milliseconds kLongestSleep{10};
/// Looks between two offers of the core, where every worker can have one to itself; elsewhere one.
constexpr int kLooks = 30;

/// Cores that this process may run on.
int cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/// In the inbox of whoever sleeps.
struct alignas(kLine) Bell {
  std::atomic<std::uint32_t> rung;
  std::atomic<std::uint32_t> sleeping;
};

/// An inbox: a bell, counts by sender, then a ring by sender.
struct Layout {
  std::size_t workers = 0;
  std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

  [[nodiscard]] std::size_t front() const {
    return (sizeof(Bell) + workers * sizeof(RingCounts) + page - 1) / page * page;
  }
  [[nodiscard]] std::size_t line_bytes() const { return std::max(kLineBytes, page); }
  [[nodiscard]] std::size_t lines(std::size_t sender) const { return front() + sender * line_bytes(); }
  [[nodiscard]] std::size_t payloads(std::size_t sender) const { return lines(workers) + sender * kPayloadBytes; }
  [[nodiscard]] std::size_t all() const { return payloads(workers); }
  static Bell& bell(const Mapping& front) { return *reinterpret_cast<Bell*>(front.begin()); }
  static RingCounts& counts(const Mapping& front, std::size_t sender) {
    return reinterpret_cast<RingCounts*>(front.begin() + sizeof(Bell))[sender];
  }
};

/// What workers tell each other over their connection: where the inbox is, then whether the other's was reached.
struct Offer {
  std::array<char, 8> magic{'T', 'U', 'T', 'T', 'I', 'S', 'H', 'M'};
  std::int64_t process = 0;
  std::int32_t number = 0;
  std::uint32_t payload_bytes = kPayloadBytes;
};

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t value, std::chrono::nanoseconds most) {
  const timespec time{most.count() / 1'000'000'000, most.count() % 1'000'000'000};
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, value, &time, nullptr, 0);
}

void futex_wake(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

/// Sends or receives exactly so many bytes. False if that does not come about, or is no longer wanted.
template <class Move>
bool exactly(int socket, short event, std::size_t bytes, Patience& patience, Move move) {
  for (std::size_t done = 0; done < bytes;) {
    pollfd file{socket, event, 0};
    if (!patience.lasts()) return false;
    if (::poll(&file, 1, 20) <= 0) continue;
    const ssize_t moved = move(done, bytes - done);
    if (moved < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) continue;
    if (moved <= 0) return false;
    done += static_cast<std::size_t>(moved);
  }
  return true;
}

bool write_exactly(int socket, const void* data, std::size_t bytes, Patience& patience) {
  return exactly(socket, POLLOUT, bytes, patience, [&](std::size_t at, std::size_t length) {
    return ::send(socket, static_cast<const char*>(data) + at, length, MSG_NOSIGNAL | MSG_DONTWAIT);
  });
}

bool read_exactly(int socket, void* data, std::size_t bytes, Patience& patience) {
  return exactly(socket, POLLIN, bytes, patience, [&](std::size_t at, std::size_t length) {
    return ::recv(socket, static_cast<char*>(data) + at, length, MSG_DONTWAIT);
  });
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

  struct Peer {
    std::int32_t worker = 0;
    int socket = -1;
    Mapping front;                    ///< of its inbox
    Mapping out_lines, out_payloads;  ///< our ring there
    Mapping in_lines, in_payloads;    ///< its ring here
    std::optional<RingWriter> out;
    std::optional<RingReader> in;
    Bell* bell = nullptr;
    bool has_news = false;  ///< has got messages,
    bool has_room = false;  ///< or room, that it was not yet woken for
    std::deque<Outgoing> queue;

    ~Peer() {
      if (socket >= 0) ::close(socket);
    }
  };

  std::vector<std::unique_ptr<Peer>> peers;  ///< by worker; null for this one
  std::vector<Peer*> others;
  std::vector<pollfd> sockets;  ///< by place in `others`
  std::vector<std::int32_t> worker_of;
  WaitOptions options;
  std::size_t worker = 0;
  Mapping front;  ///< of our own inbox
  LocalTransport local;
  Receiver* receiver = nullptr;
  std::string failure;
  bool crowded = true;  ///< more workers than cores
  int unsettled = 0;    ///< calls of poll() since somebody has got something that may have to wake him; 0: nobody has

  Peer* peer_of(core::Rank rank) {
    return peers[static_cast<std::size_t>(worker_of[static_cast<std::size_t>(rank)])].get();
  }

  [[nodiscard]] bool is_of(const Peer& peer, core::Rank rank) const {
    const auto place = static_cast<std::size_t>(rank);
    return place < worker_of.size() && worker_of[place] == peer.worker;
  }

  void fail(const Peer& peer, const std::string& what) {
    if (failure.empty()) failure = fmt::format("worker {} {}", peer.worker, what);
  }

  // --- setting up ---

  Expected<void> exchange_inboxes(Patience& patience) {
    const Layout layout{peers.size()};
    auto memory = SharedMemory::create(layout.all());
    if (!memory) return tl::make_unexpected(memory.error());
    auto own = memory->map(0, layout.front());
    if (!own) return tl::make_unexpected(own.error());
    front = std::move(*own);
    Offer offer;
    offer.process = ::getpid();
    offer.number = memory->number();
    const auto gone = [&patience](const Peer& peer) {
      if (patience.stopped) return tl::make_unexpected(*patience.stopped);
      return tl::make_unexpected(Error::run(fmt::format("worker {} does not exchange shared memory", peer.worker)));
    };
    for (Peer* const peer : others) {
      if (!write_exactly(peer->socket, &offer, sizeof offer, patience)) return gone(*peer);
    }
    Expected<void> reached;
    for (Peer* const peer : others) {
      Offer theirs;
      if (!read_exactly(peer->socket, &theirs, sizeof theirs, patience)) return gone(*peer);
      if (auto mapped = map(*peer, *memory, theirs, layout); !mapped && reached) {
        reached = tl::make_unexpected(
            Error::run(fmt::format("the memory of worker {} cannot be reached ({}); take --transport tcp", peer->worker,
                                   mapped.error().message())));
      }
    }
    // Nobody goes on before all have reached all: until then the inboxes have to stay open.
    const char word = reached ? 'y' : 'n';
    for (Peer* const peer : others) {
      if (!write_exactly(peer->socket, &word, 1, patience)) return gone(*peer);
    }
    for (Peer* const peer : others) {
      char theirs = 0;
      if (!read_exactly(peer->socket, &theirs, 1, patience)) return gone(*peer);
      if (theirs != 'y' && reached)
        reached = tl::make_unexpected(Error::run(fmt::format("worker {} cannot reach shared memory", peer->worker)));
      // Its writer is there now.
      peer->in.emplace(RingMemory{Layout::counts(front, static_cast<std::size_t>(peer->worker)), peer->in_lines.begin(),
                                  peer->in_payloads.begin(), layout.line_bytes(), kPayloadBytes});
    }
    return reached;
  }

  Expected<void> map(Peer& peer, const SharedMemory& own, const Offer& offer, const Layout& layout) {
    if (offer.magic != Offer().magic || offer.payload_bytes != kPayloadBytes)
      return tl::make_unexpected(Error::run("it sent something else"));
    auto memory = SharedMemory::open(offer.process, offer.number, layout.all());
    if (!memory) return tl::make_unexpected(memory.error());
    const auto other = static_cast<std::size_t>(peer.worker);
    auto its_front = memory->map(0, layout.front());
    auto out_lines = memory->map_twice(layout.lines(worker), layout.line_bytes(), Touch::kNow);
    auto in_lines = own.map_twice(layout.lines(other), layout.line_bytes(), Touch::kNow);
    auto out_payloads = memory->map_twice(layout.payloads(worker), kPayloadBytes);
    auto in_payloads = own.map_twice(layout.payloads(other), kPayloadBytes);
    for (const auto* mapping : {&its_front, &out_lines, &in_lines, &out_payloads, &in_payloads}) {
      if (!*mapping) return tl::make_unexpected(mapping->error());
    }
    peer.front = std::move(*its_front);
    peer.out_lines = std::move(*out_lines);
    peer.in_lines = std::move(*in_lines);
    peer.out_payloads = std::move(*out_payloads);
    peer.in_payloads = std::move(*in_payloads);
    peer.bell = &Layout::bell(peer.front);
    peer.out.emplace(RingMemory{Layout::counts(peer.front, worker), peer.out_lines.begin(), peer.out_payloads.begin(),
                                layout.line_bytes(), kPayloadBytes});
    return {};
  }

  // --- moving ---

  /// Wakes peers that sleep and have got something since. The fence waits until that is out of this core; after what is
  /// short, poll() leaves it for a moment in which there is nothing better to do.
  void settle() {
    unsettled = 0;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    for (Peer* const peer : others) {
      const bool got_room = std::exchange(peer->has_room, false) && peer->in->writer_waits();
      if (std::exchange(peer->has_news, false) || got_room) ring(*peer);
    }
  }

  /// Comes after what the peer is to see, and a fence.
  static void ring(const Peer& peer) {
    if (peer.bell->sleeping.load(std::memory_order_relaxed) == 0) return;
    peer.bell->rung.fetch_add(1, std::memory_order_release);
    futex_wake(peer.bell->rung);
  }

  void publish(Peer& peer, const Header& header) {
    peer.out->publish(header);
    if (header.piece.length > kMostAmongLines) {
      std::atomic_thread_fence(std::memory_order_seq_cst);
      return ring(peer);
    }
    peer.has_news = true;
    unsettled = std::max(unsettled, 1);
  }

  bool put(Peer& peer, const Header& header, const std::byte* payload) {
    std::byte* const room = peer.out->reserve(header);
    if (!room) return false;
    if (payload && header.piece.length > 0) std::memcpy(room, payload, static_cast<std::size_t>(header.piece.length));
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

  /// Takes what is in the ring, once round at most, so that others get their turn.
  bool read(Peer& peer) {
    bool moved = false;
    std::size_t taken = 0;
    while (taken < kPayloadBytes && failure.empty()) {
      const auto message = peer.in->front();
      if (!message) {
        if (peer.in->broken()) fail(peer, "wrote something into its ring that is no message of Tutti");
        break;
      }
      moved = true;
      const Piece& piece = message->header.piece;
      if (message->header.kind == Header::Kind::kSlot) {
        if (!is_of(peer, piece.channel.to) || !receiver->slot_freed(piece.channel))
          fail(peer, "frees a slot that nobody had taken");
      } else if (!is_of(peer, piece.channel.from)) {
        fail(peer, fmt::format("sent a message of rank {}, which is not its own", piece.channel.from));
      } else if (!receiver->take(piece, message->payload)) {
        fail(peer, fmt::format("sent a message that its schedule does not have (pack {}, from rank {} to rank {}, {} "
                               "of {} bytes)",
                               piece.channel.collective.pack, piece.channel.from, piece.channel.to, piece.length,
                               piece.total));
      }
      taken += kLine + static_cast<std::size_t>(piece.length);
      peer.in->release();
    }
    if (moved) {
      peer.has_room = true;
      unsettled = std::max(unsettled, 1);
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

  /// As move(), looking several times.
  bool look() {
    for (int i = 0; i < (crowded ? 1 : kLooks); ++i) {
      if (move() || !failure.empty()) return true;
      relax();
    }
    return false;
  }

  // --- waiting ---

  void sleep(Clock::time_point until) {
    Bell& bell = Layout::bell(front);
    const std::uint32_t rung = bell.rung.load(std::memory_order_acquire);
    for (Peer* const peer : others) {
      if (!peer->queue.empty()) peer->out->wait_for_room(true);
    }
    bell.sleeping.store(1, std::memory_order_seq_cst);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    // What came before they could know that we sleep.
    const auto left = std::min<std::chrono::nanoseconds>(until - Clock::now(), kLongestSleep);
    if (!move() && failure.empty() && left.count() > 0) {
      futex_wait(bell.rung, rung, left);
      if (bell.rung.load(std::memory_order_relaxed) == rung) look_after_peers();
    }
    bell.sleeping.store(0, std::memory_order_relaxed);
    for (Peer* const peer : others) peer->out->wait_for_room(false);
  }

  /// Nobody sends anything over the connections; they close when a process ends.
  void look_after_peers() {
    if (::poll(sockets.data(), sockets.size(), 0) <= 0) return;
    for (std::size_t i = 0; i < others.size(); ++i) {
      if (sockets[i].revents == 0) continue;
      // What it wrote before still counts.
      if (!read(*others[i])) fail(*others[i], "has closed its connection");
    }
  }
};

ShmTransport::ShmTransport(std::unique_ptr<State> state) : state_(std::move(state)) {}
ShmTransport::~ShmTransport() = default;

Expected<std::unique_ptr<ShmTransport>> ShmTransport::open(std::vector<int> sockets, std::int32_t worker,
                                                           std::vector<std::int32_t> worker_of,
                                                           const WaitOptions& options, Patience patience) {
  auto state = std::make_unique<State>();
  state->worker_of = std::move(worker_of);
  state->options = options;
  state->worker = static_cast<std::size_t>(worker);
  state->peers.resize(sockets.size());
  state->crowded = sockets.size() > static_cast<std::size_t>(cores());
  for (std::size_t w = 0; w < sockets.size(); ++w) {
    if (sockets[w] < 0) continue;
    auto peer = std::make_unique<State::Peer>();
    peer->worker = static_cast<std::int32_t>(w);
    peer->socket = sockets[w];
    state->others.push_back(peer.get());
    state->sockets.push_back({sockets[w], POLLIN, 0});
    state->peers[w] = std::move(peer);
  }
  if (auto exchanged = state->exchange_inboxes(patience); !exchanged) return tl::make_unexpected(exchanged.error());
  return std::unique_ptr<ShmTransport>(new ShmTransport(std::move(state)));
}

void ShmTransport::connect(Receiver& receiver, Devices& devices) {
  state_->receiver = &receiver;
  state_->local.connect(receiver, devices);
}

bool ShmTransport::is_local(core::Rank rank) const { return !state_->peer_of(rank); }
std::int64_t ShmTransport::piece_bytes() const { return kPieceBytes; }

bool ShmTransport::send(const Piece& piece, const std::byte* payload, Ticket ticket) {
  State::Peer* const peer = state_->peer_of(piece.channel.to);
  if (!peer) return state_->local.send(piece, payload, ticket);
  TUTTI_CHECK(piece.length <= static_cast<std::int64_t>(kPayloadBytes), "a piece of {} bytes for a ring of {}",
              piece.length, kPayloadBytes);
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
  if (!peer->queue.empty() || !state_->put(*peer, header, nullptr)) peer->queue.push_back({header, nullptr, 0, false});
}

Expected<void> ShmTransport::poll(Clock::time_point until) {
  State& s = *state_;
  const bool had_local = !s.local.flushed();
  if (had_local) static_cast<void>(s.local.poll({}));
  bool moved = s.move() || had_local;
  // Reading the clock takes as long as a short message.
  const bool patient = until == Clock::time_point::max();
  if (s.unsettled > 0 && (!moved || ++s.unsettled > kMostUnsettled)) {
    s.settle();
    moved = moved || !patient;  // it may have been all that was waited for: see flushed()
  }
  if (!moved && patient) {
    if (s.crowded) ::sched_yield();
    moved = s.look();
  }
  if (!moved && s.failure.empty()) {
    const Clock::time_point now = Clock::now();
    if (now < until) {
      moved = (!patient && s.look()) || look_around(std::min(until, now + s.options.spin), [&] { return s.look(); });
      if (!moved && s.failure.empty()) {
        s.sleep(until);
        s.move();
      }
    }
  }
  if (!s.failure.empty()) return tl::make_unexpected(Error::run(s.failure));
  return {};
}

bool ShmTransport::flushed() const {
  for (const State::Peer* const peer : state_->others) {
    if (!peer->queue.empty()) return false;
  }
  return state_->unsettled == 0 && state_->local.flushed();
}

}  // namespace tutti::real
