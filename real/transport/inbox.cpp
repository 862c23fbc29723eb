#include "real/transport/inbox.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace tutti::real {

using core::Error;
using core::Expected;

namespace {

/// The layout of an inbox: a wake_futex, then counts per sender, then a ring per sender.
struct Layout {
  std::size_t workers = 0;
  std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

  [[nodiscard]] std::size_t front() const {
    return (sizeof(WakeFutex) + workers * sizeof(RingCounts) + page - 1) / page * page;
  }
  [[nodiscard]] std::size_t line_bytes() const { return std::max(kLineBytes, page); }
  [[nodiscard]] std::size_t lines(std::size_t sender) const {
    return front() + sender * line_bytes();
  }
  [[nodiscard]] std::size_t payloads(std::size_t sender) const {
    return lines(workers) + sender * kPayloadBytes;
  }
  [[nodiscard]] std::size_t all() const { return payloads(workers); }
  static WakeFutex& wake_futex(const Mapping& front) {
    return *reinterpret_cast<WakeFutex*>(front.begin());
  }
  static RingCounts& counts(const Mapping& front, std::size_t sender) {
    return reinterpret_cast<RingCounts*>(front.begin() + sizeof(WakeFutex))[sender];
  }
};

/// The messages that two workers exchange over their connection. The first message says where the
/// sender's inbox is. The second message says whether the sender could map the peer's inbox.
struct Offer {
  std::array<char, 8> magic{'T', 'U', 'T', 'T', 'I', 'S', 'H', 'M'};
  std::int64_t process = 0;
  std::int32_t number = 0;
  std::uint32_t payload_bytes = kPayloadBytes;
};

/// Sends or receives exactly `bytes` bytes. Returns false if the transfer fails, or if it is not
/// complete at `deadline`.
template <class Move>
bool exactly(int socket, short event, std::size_t bytes, SetupDeadline& deadline, Move move) {
  for (std::size_t done = 0; done < bytes;) {
    pollfd file{socket, event, 0};
    if (!deadline.lasts()) return false;
    if (::poll(&file, 1, 20) <= 0) continue;
    const ssize_t moved = move(done, bytes - done);
    if (moved < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) continue;
    if (moved <= 0) return false;
    done += moved;
  }
  return true;
}

bool write_exactly(int socket, const void* data, std::size_t bytes, SetupDeadline& deadline) {
  return exactly(socket, POLLOUT, bytes, deadline, [&](std::size_t at, std::size_t length) {
    return ::send(socket, static_cast<const char*>(data) + at, length, MSG_NOSIGNAL | MSG_DONTWAIT);
  });
}

bool read_exactly(int socket, void* data, std::size_t bytes, SetupDeadline& deadline) {
  return exactly(socket, POLLIN, bytes, deadline, [&](std::size_t at, std::size_t length) {
    return ::recv(socket, static_cast<char*>(data) + at, length, MSG_DONTWAIT);
  });
}

tl::unexpected<Error> gone(const InboxPeer& peer, const SetupDeadline& deadline) {
  if (deadline.stopped) return tl::make_unexpected(*deadline.stopped);
  return tl::make_unexpected(Error::run(
      {core::ProblemCode::kLost, "", peer.worker},
      fmt::format("worker {} did not set up shared memory in time, or has ended", peer.worker)));
}

/// Maps the two rings between this worker, whose number is `number`, and a peer. `offer` is the
/// peer's message that says where the peer's inbox is.
Expected<void> map(InboxPeer& peer, const SharedMemory& own, std::size_t number, const Offer& offer,
                   const Layout& layout) {
  if (offer.magic != Offer().magic || offer.payload_bytes != kPayloadBytes)
    return tl::make_unexpected(
        Error::run({core::ProblemCode::kProtocol}, "the peer sent an unexpected message"));
  auto memory = SharedMemory::open(offer.process, offer.number, layout.all());
  if (!memory) return tl::make_unexpected(memory.error());
  const std::size_t other = peer.worker;
  auto front = memory->map(0, layout.front());
  auto out_lines = memory->map_twice(layout.lines(number), layout.line_bytes(), Touch::kNow);
  auto in_lines = own.map_twice(layout.lines(other), layout.line_bytes(), Touch::kNow);
  auto out_payloads = memory->map_twice(layout.payloads(number), kPayloadBytes);
  auto in_payloads = own.map_twice(layout.payloads(other), kPayloadBytes);
  for (const auto* mapping : {&front, &out_lines, &in_lines, &out_payloads, &in_payloads}) {
    if (!*mapping) return tl::make_unexpected(mapping->error());
  }
  peer.front = std::move(*front);
  peer.out_lines = std::move(*out_lines);
  peer.in_lines = std::move(*in_lines);
  peer.out_payloads = std::move(*out_payloads);
  peer.in_payloads = std::move(*in_payloads);
  peer.wake_futex = &Layout::wake_futex(peer.front);
  peer.out.emplace(RingMemory{Layout::counts(peer.front, number), peer.out_lines.begin(),
                              peer.out_payloads.begin(), layout.line_bytes(), kPayloadBytes});
  return {};
}

/// Sends the location of this worker's inbox to every peer, and maps the peers' inboxes. The outer
/// Expected is an error if a peer does not take part in the exchange. The inner Expected is an
/// error if the memory of a peer cannot be accessed.
Expected<Expected<void>> reach_all(const SharedMemory& own, std::size_t number,
                                   const Layout& layout, const std::vector<InboxPeer*>& peers,
                                   SetupDeadline& deadline) {
  Offer offer;
  offer.process = ::getpid();
  offer.number = own.number();
  for (InboxPeer* const peer : peers) {
    if (!write_exactly(peer->socket, &offer, sizeof offer, deadline)) return gone(*peer, deadline);
  }
  Expected<void> reached;
  for (InboxPeer* const peer : peers) {
    Offer theirs;
    if (!read_exactly(peer->socket, &theirs, sizeof theirs, deadline)) return gone(*peer, deadline);
    if (auto mapped = map(*peer, own, number, theirs, layout); !mapped && reached) {
      reached = tl::make_unexpected(Error::run(
          {core::ProblemCode::kSystem, "", peer->worker},
          fmt::format("the memory of worker {} cannot be opened ({}); use --transport tcp",
                      peer->worker, mapped.error().message())));
    }
  }
  return reached;
}

}  // namespace

InboxPeer::~InboxPeer() {
  if (socket >= 0) ::close(socket);
}

Expected<Inbox> Inbox::exchange(std::size_t workers, std::size_t own,
                                const std::vector<InboxPeer*>& peers, SetupDeadline& deadline) {
  const Layout layout{workers};
  auto memory = SharedMemory::create(layout.all());
  if (!memory) return tl::make_unexpected(memory.error());
  auto front = memory->map(0, layout.front());
  if (!front) return tl::make_unexpected(front.error());
  auto all = reach_all(*memory, own, layout, peers, deadline);
  if (!all) return tl::make_unexpected(all.error());
  Expected<void>& reached = *all;
  // No worker continues until all workers have mapped all inboxes, since inboxes must stay open
  // until then.
  const char word = reached ? 'y' : 'n';
  for (InboxPeer* const peer : peers) {
    if (!write_exactly(peer->socket, &word, 1, deadline)) return gone(*peer, deadline);
  }
  for (InboxPeer* const peer : peers) {
    char theirs = 0;
    if (!read_exactly(peer->socket, &theirs, 1, deadline)) return gone(*peer, deadline);
    if (theirs != 'y' && reached)
      reached = tl::make_unexpected(Error::run(
          {core::ProblemCode::kSystem, "", peer->worker},
          fmt::format(
              "worker {} cannot open the shared memory of another worker; use --transport tcp",
              peer->worker)));
  }
  if (!reached) return tl::make_unexpected(reached.error());
  for (InboxPeer* const peer : peers) {  // their writers exist by now
    peer->in.emplace(RingMemory{Layout::counts(*front, static_cast<std::size_t>(peer->worker)),
                                peer->in_lines.begin(), peer->in_payloads.begin(),
                                layout.line_bytes(), kPayloadBytes});
  }
  return Inbox(std::move(*front));
}

}  // namespace tutti::real
