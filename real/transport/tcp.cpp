#include "real/transport/tcp.h"

#include <cstring>
#include <deque>

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "core/base/check.h"
#include "real/transport/asio.h"
#include "real/transport/local.h"
#include "real/transport/wire.h"

namespace tutti::real {

using boost::asio::ip::tcp;
using ErrorCode = boost::system::error_code;

namespace {

/// Headers and small payloads are read through a buffer, so many bytes at once; what is left of a payload then goes
/// straight to its place.
constexpr std::size_t kAhead = 16 << 10;
constexpr std::size_t kBufferBytes = 4 * kAhead;
/// Long pieces: a process that turns from sending to receiving and back for every 128 KiB takes a third longer for 1 MiB
/// (two processes, two cores; longer than this gains nothing more).
constexpr std::int64_t kPieceBytes = 512 << 10;
static_assert(kPieceBytes <= kMostPieceBytes);
/// The caller may have something else to look after.
constexpr std::chrono::milliseconds kLongestSleep{20};
/// Bytes that are taken from one socket before the others get their turn.
constexpr std::size_t kMostPerTurn = 1 << 20;
/// Messages handed to the kernel in one call.
constexpr int kMostAtOnce = 32;
/// Elements are read in place where they lie so; else they are copied first.
constexpr std::size_t kAlignment = 8;

/// BBR, the default of some kernels, paces even loopback to half of what CUBIC carries. Where CUBIC is kept for the
/// privileged, Reno does as well on loopback; elsewhere the kernel's default stays then.
void choose_congestion_control(tcp::socket& socket) {
  const int file = socket.native_handle();
  if (::setsockopt(file, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5) == 0) return;
  ErrorCode error;
  const auto peer = socket.remote_endpoint(error);
  if (!error && peer.address().is_loopback()) ::setsockopt(file, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
}

}  // namespace

struct TcpTransport::State {
  struct Outgoing {
    HeaderBytes header;
    const std::byte* payload = nullptr;
    std::size_t length = 0;
    Ticket ticket = 0;
    std::size_t written = 0;  ///< of header and payload together
    bool has_ticket = false;
  };

  struct Peer {
    explicit Peer(boost::asio::io_context& context) : socket(context), buffer(kBufferBytes) {}
    tcp::socket socket;
    std::int32_t worker = 0;
    std::deque<Outgoing> queue;
    std::vector<std::byte> buffer;
    std::size_t begin = 0;  ///< of what is unread in the buffer
    std::size_t end = 0;
    bool in_payload = false;
    Header header;
    std::byte* target = nullptr;
    std::size_t done = 0;      ///< of the payload
    std::size_t straight = 0;  ///< of what is asked for, how much goes to the target
    bool writable = true;      ///< not known to be full
  };

  boost::asio::io_context context;
  std::vector<std::unique_ptr<Peer>> peers;  ///< by worker; null for this one
  std::vector<Peer*> others;                 ///< the same without this one
  std::vector<pollfd> sockets;               ///< by place in `others`
  std::vector<std::int32_t> worker_of;
  WaitOptions options;
  LocalTransport local;
  Receiver* receiver = nullptr;
  std::string failure;

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

  // --- writing ---

  /// Hands the kernel what it takes. True if something moved.
  bool write(Peer& peer) {
    bool moved = false;
    while (peer.writable && !peer.queue.empty()) {
      iovec parts[2 * kMostAtOnce];
      int count = 0;
      int messages = 0;
      for (auto out = peer.queue.begin(); out != peer.queue.end() && messages < kMostAtOnce; ++out, ++messages) {
        if (out->written < kHeaderBytes)
          parts[count++] = {out->header.data() + out->written, kHeaderBytes - out->written};
        const std::size_t paid = out->written > kHeaderBytes ? out->written - kHeaderBytes : 0;
        if (paid < out->length) parts[count++] = {const_cast<std::byte*>(out->payload) + paid, out->length - paid};
      }
      msghdr message{};
      message.msg_iov = parts;
      message.msg_iovlen = static_cast<std::size_t>(count);
      const ssize_t sent = ::sendmsg(peer.socket.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0) {
        if (errno == EINTR) continue;
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
          peer.writable = false;
        } else {
          fail(peer, fmt::format("is gone ({})", std::strerror(errno)));
        }
        break;
      }
      moved = true;
      auto left = static_cast<std::size_t>(sent);
      while (left > 0) {
        Outgoing& out = peer.queue.front();
        const std::size_t rest = kHeaderBytes + out.length - out.written;
        const std::size_t part = std::min(left, rest);
        out.written += part;
        left -= part;
        if (part < rest) break;
        const Outgoing gone = out;
        peer.queue.pop_front();
        if (gone.has_ticket) receiver->sent(gone.ticket);
      }
    }
    return moved;
  }

  // --- reading ---

  /// Takes what the kernel has, up to a bound, so that others get their turn. True if something moved.
  bool read(Peer& peer) {
    bool moved = false;
    for (std::size_t taken = 0; taken < kMostPerTurn && failure.empty();) {
      std::size_t asked = 0;
      const ssize_t got = receive(peer, asked);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
      if (got <= 0) {
        fail(peer, got == 0 ? "has closed its connection" : fmt::format("is gone ({})", std::strerror(errno)));
        break;
      }
      moved = true;
      auto bytes = static_cast<std::size_t>(got);
      taken += bytes;
      const std::size_t straight = std::min(bytes, peer.straight);
      peer.done += straight;
      peer.end += bytes - straight;
      if (peer.in_payload && peer.done == static_cast<std::size_t>(peer.header.piece.length)) end_payload(peer);
      parse(peer);
      if (bytes < asked) break;  // that was all, most likely
    }
    return moved;
  }

  /// What is left of a payload goes straight to its place, and only the next header behind it to the buffer; where no
  /// payload is being read, what comes goes to the buffer, short messages whole.
  ssize_t receive(Peer& peer, std::size_t& asked) {
    if (peer.begin == peer.end) peer.begin = peer.end = 0;
    const std::size_t missing = peer.in_payload ? static_cast<std::size_t>(peer.header.piece.length) - peer.done : 0;
    peer.straight = missing;
    const std::size_t room = std::min(peer.buffer.size() - peer.end, missing > 0 ? kHeaderBytes : kAhead);
    asked = missing + room;
    if (missing == 0) return ::recv(peer.socket.native_handle(), peer.buffer.data() + peer.end, room, MSG_DONTWAIT);
    iovec parts[2] = {{peer.target + peer.done, missing}, {peer.buffer.data() + peer.end, room}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    return ::recvmsg(peer.socket.native_handle(), &message, MSG_DONTWAIT);
  }

  void refuse(const Peer& peer, const Piece& piece) {
    fail(peer,
         fmt::format("sent a message that its schedule does not have (pack {}, from rank {} to rank {}, {} of {} "
                     "bytes)",
                     piece.channel.collective.pack, piece.channel.from, piece.channel.to, piece.length, piece.total));
  }

  void end_payload(Peer& peer) {
    peer.in_payload = false;
    receiver->arrived(peer.header.piece);
  }

  void parse(Peer& peer) {
    while (failure.empty()) {
      if (peer.in_payload) {
        const std::size_t missing = static_cast<std::size_t>(peer.header.piece.length) - peer.done;
        const std::size_t part = std::min(missing, peer.end - peer.begin);
        if (part > 0) std::memcpy(peer.target + peer.done, peer.buffer.data() + peer.begin, part);
        peer.begin += part;
        peer.done += part;
        if (part < missing) break;
        end_payload(peer);
        continue;
      }
      if (peer.end - peer.begin < kHeaderBytes) break;
      const auto header =
          decode(std::span<const std::byte, kHeaderBytes>(peer.buffer.data() + peer.begin, kHeaderBytes));
      peer.begin += kHeaderBytes;
      if (!header) return fail(peer, "sent something that is no message of Tutti");
      if (header->kind == Header::Kind::kSlot) {
        if (!is_of(peer, header->piece.channel.to) || !receiver->slot_freed(header->piece.channel))
          return fail(peer, "frees a slot that nobody had taken");
        continue;
      }
      if (!is_of(peer, header->piece.channel.from))
        return fail(peer, fmt::format("sent a message of rank {}, which is not its own", header->piece.channel.from));
      const auto length = static_cast<std::size_t>(header->piece.length);
      std::byte* const bytes = peer.buffer.data() + peer.begin;
      if (peer.end - peer.begin >= length && reinterpret_cast<std::uintptr_t>(bytes) % kAlignment == 0) {
        peer.begin += length;
        if (!receiver->take(header->piece, bytes)) return refuse(peer, header->piece);
        continue;
      }
      peer.header = *header;
      peer.target = receiver->place(header->piece);
      if (!peer.target) return refuse(peer, header->piece);
      peer.done = 0;
      peer.in_payload = true;
    }
    // Keeps room behind what is left.
    if (peer.begin > 0 && peer.buffer.size() - peer.end < kAhead) {
      std::memmove(peer.buffer.data(), peer.buffer.data() + peer.begin, peer.end - peer.begin);
      peer.end -= peer.begin;
      peer.begin = 0;
    }
  }

  // --- waiting ---

  /// Sleeps until a socket has something, or takes something that is waiting for it.
  void sleep(Clock::time_point until) {
    for (std::size_t i = 0; i < others.size(); ++i)
      sockets[i].events = static_cast<short>(others[i]->queue.empty() ? POLLIN : POLLIN | POLLOUT);
    const auto left = std::min<std::chrono::nanoseconds>(until - Clock::now(), kLongestSleep).count();
    // Also without a sleep: who only ever looks must not take a socket for full for ever.
    for (Peer* const peer : others) peer->writable = true;
    if (left <= 0) return;
    const timespec most{left / 1'000'000'000, left % 1'000'000'000};
    ::ppoll(sockets.data(), sockets.size(), &most, nullptr);
  }

  /// Moves what can be moved without waiting. Of several sockets only those are read that have something.
  bool move() {
    bool moved = false;
    for (Peer* const peer : others) {
      if (!peer->queue.empty()) moved = write(*peer) || moved;
    }
    if (others.size() == 1) return read(*others.front()) || moved;
    if (::poll(sockets.data(), sockets.size(), 0) <= 0) return moved;
    for (std::size_t i = 0; i < others.size(); ++i) {
      if (sockets[i].revents != 0) moved = read(*others[i]) || moved;
    }
    return moved;
  }
};

TcpTransport::TcpTransport(std::vector<int> sockets, std::vector<std::int32_t> worker_of, const WaitOptions& options)
    : state_(std::make_unique<State>()) {
  state_->worker_of = std::move(worker_of);
  state_->options = options;
  state_->peers.resize(sockets.size());
  for (std::size_t w = 0; w < sockets.size(); ++w) {
    if (sockets[w] < 0) continue;
    auto peer = std::make_unique<State::Peer>(state_->context);
    peer->socket.assign(tcp::v4(), sockets[w]);
    peer->socket.non_blocking(true);
    ErrorCode ignored;
    peer->socket.set_option(tcp::no_delay(true), ignored);
    peer->worker = static_cast<std::int32_t>(w);
    choose_congestion_control(peer->socket);
    state_->others.push_back(peer.get());
    state_->sockets.push_back({sockets[w], POLLIN, 0});
    state_->peers[w] = std::move(peer);
  }
}

TcpTransport::~TcpTransport() = default;

void TcpTransport::connect(Receiver& receiver, Devices& devices) {
  state_->receiver = &receiver;
  state_->local.connect(receiver, devices);
}

std::int64_t TcpTransport::piece_bytes() const { return kPieceBytes; }

bool TcpTransport::is_local(core::Rank rank) const { return !state_->peer_of(rank); }

bool TcpTransport::send(const Piece& piece, const std::byte* payload, Ticket ticket) {
  State::Peer* const peer = state_->peer_of(piece.channel.to);
  if (!peer) return state_->local.send(piece, payload, ticket);
  peer->queue.push_back(
      {encode({Header::Kind::kPiece, piece}), payload, static_cast<std::size_t>(piece.length), ticket, 0, false});
  // Others are told of what left before only by poll().
  if (peer->queue.size() == 1) state_->write(*peer);
  if (peer->queue.empty()) return true;
  peer->queue.back().has_ticket = true;
  return false;
}

void TcpTransport::free_slot(const Channel& channel) {
  State::Peer* const peer = state_->peer_of(channel.from);
  if (!peer) return state_->local.free_slot(channel);
  Piece piece;
  piece.channel = channel;
  peer->queue.push_back({encode({Header::Kind::kSlot, piece}), nullptr, 0, 0, 0, false});
}

core::Expected<void> TcpTransport::poll(Clock::time_point until) {
  State& s = *state_;
  const bool had_local = !s.local.flushed();
  if (had_local) static_cast<void>(s.local.poll({}));
  bool moved = s.move() || had_local;
  if (!moved && s.failure.empty()) {
    moved = look_around(std::min(until, Clock::now() + s.options.spin), [&] { return s.move() || !s.failure.empty(); });
    if (!moved && s.failure.empty()) {
      s.sleep(until);
      s.move();
    }
  }
  if (!s.failure.empty()) return tl::make_unexpected(core::Error::run(s.failure));
  return {};
}

bool TcpTransport::flushed() const {
  for (const std::unique_ptr<State::Peer>& peer : state_->peers) {
    if (peer && !peer->queue.empty()) return false;
  }
  return state_->local.flushed();
}

}  // namespace tutti::real
