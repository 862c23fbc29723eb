#include "real/transport/tcp.h"

#include <cstring>
#include <deque>

#include <fmt/format.h>
#include <netinet/tcp.h>
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

/// Headers and small payloads are read through a buffer of this size; what is left of a payload beyond it goes straight
/// to its place.
constexpr std::size_t kBufferBytes = 64 << 10;
/// Messages handed to the kernel in one call.
constexpr int kMostAtOnce = 32;

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
    std::size_t done = 0;  ///< of the payload
    bool writable = true;  ///< not known to be full
    bool waits_to_read = false;
    bool waits_to_write = false;
  };

  boost::asio::io_context context;
  std::vector<std::unique_ptr<Peer>> peers;  ///< by worker; null for this one
  std::vector<std::int32_t> worker_of;
  TcpOptions options;
  LocalTransport local;
  Receiver* receiver = nullptr;
  std::string failure;

  Peer* peer_of(core::Rank rank) {
    return peers[static_cast<std::size_t>(worker_of[static_cast<std::size_t>(rank)])].get();
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

  /// Takes what the kernel has. True if something moved.
  bool read(Peer& peer) {
    bool moved = false;
    bool more = true;
    while (more && failure.empty()) {
      const std::size_t missing = peer.in_payload ? static_cast<std::size_t>(peer.header.piece.length) - peer.done : 0;
      const bool straight = peer.begin == peer.end && missing >= kBufferBytes / 2;
      if (peer.begin == peer.end) peer.begin = peer.end = 0;
      std::byte* const to = straight ? peer.target + peer.done : peer.buffer.data() + peer.end;
      const std::size_t room = straight ? missing : peer.buffer.size() - peer.end;
      const ssize_t got = ::recv(peer.socket.native_handle(), to, room, MSG_DONTWAIT);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        break;
      }
      if (got <= 0) {
        fail(peer, got == 0 ? "has closed its connection" : fmt::format("is gone ({})", std::strerror(errno)));
        break;
      }
      moved = true;
      if (straight) {
        peer.done += static_cast<std::size_t>(got);
        if (peer.done == static_cast<std::size_t>(peer.header.piece.length)) end_payload(peer);
      } else {
        peer.end += static_cast<std::size_t>(got);
        parse(peer);
        more = static_cast<std::size_t>(got) == room;  // else that was all, most likely
      }
    }
    return moved;
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
        if (!receiver->slot_freed(header->piece.channel)) return fail(peer, "frees a slot that nobody had taken");
        continue;
      }
      const auto from = static_cast<std::size_t>(header->piece.channel.from);
      if (from >= worker_of.size() || worker_of[from] != peer.worker)
        return fail(peer, fmt::format("sent a message of rank {}, which is not its own", header->piece.channel.from));
      peer.header = *header;
      peer.target = receiver->place(header->piece);
      if (!peer.target) {
        return fail(
            peer, fmt::format("sent a message that its schedule does not have (pack {}, from rank {} to rank {}, {} of "
                              "{} bytes)",
                              header->piece.channel.collective.pack, header->piece.channel.from,
                              header->piece.channel.to, header->piece.length, header->piece.total));
      }
      peer.done = 0;
      peer.in_payload = true;
    }
    // Keeps room for the next header behind what is left.
    if (peer.begin > 0 && peer.buffer.size() - peer.end < kBufferBytes / 4) {
      std::memmove(peer.buffer.data(), peer.buffer.data() + peer.begin, peer.end - peer.begin);
      peer.end -= peer.begin;
      peer.begin = 0;
    }
  }

  // --- waiting ---

  void wait(Clock::time_point until) {
    for (const std::unique_ptr<Peer>& each : peers) {
      Peer* const peer = each.get();
      if (!peer) continue;
      if (!peer->waits_to_read) {
        peer->waits_to_read = true;
        peer->socket.async_wait(tcp::socket::wait_read, [peer](ErrorCode) { peer->waits_to_read = false; });
      }
      if (!peer->queue.empty() && !peer->waits_to_write) {
        peer->waits_to_write = true;
        peer->socket.async_wait(tcp::socket::wait_write, [peer](ErrorCode error) {
          peer->waits_to_write = false;
          if (!error) peer->writable = true;
        });
      }
    }
    if (context.stopped()) context.restart();
    context.run_one_until(until);
    context.poll();
  }

  bool move() {
    bool moved = false;
    for (const std::unique_ptr<Peer>& peer : peers) {
      if (!peer) continue;
      moved = write(*peer) || moved;
      moved = read(*peer) || moved;
    }
    return moved;
  }
};

TcpTransport::TcpTransport(std::vector<int> sockets, std::vector<std::int32_t> worker_of, const TcpOptions& options)
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
    // BBR, the default of some kernels, paces even loopback; where the kernel lacks CUBIC this is refused.
    ::setsockopt(peer->socket.native_handle(), IPPROTO_TCP, TCP_CONGESTION, "cubic", 5);
    state_->peers[w] = std::move(peer);
  }
}

TcpTransport::~TcpTransport() = default;

void TcpTransport::connect(Receiver& receiver, Devices& devices) {
  state_->receiver = &receiver;
  state_->local.connect(receiver, devices);
}

bool TcpTransport::is_local(core::Rank rank) const { return !state_->peer_of(rank); }

void TcpTransport::send(const Piece& piece, const std::byte* payload, Ticket ticket) {
  State::Peer* const peer = state_->peer_of(piece.channel.to);
  if (!peer) return state_->local.send(piece, payload, ticket);
  peer->queue.push_back(
      {encode({Header::Kind::kPiece, piece}), payload, static_cast<std::size_t>(piece.length), ticket, 0, true});
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
    const Clock::time_point spin_until = std::min(until, Clock::now() + s.options.spin);
    while (!moved && s.failure.empty() && Clock::now() < spin_until) moved = s.move();
    if (!moved && s.failure.empty() && Clock::now() < until) {
      s.wait(until);
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
