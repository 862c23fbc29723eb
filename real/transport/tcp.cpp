// Moves messages between processes in one thread, with scatter and gather calls on non-blocking
// sockets; Asio only owns the sockets. A long payload goes from the kernel directly to its
// destination, and only headers and short messages pass through a buffer. A message for a
// collective that is not open yet remains unread. TCP's flow control then stops the sender, so no
// memory is needed. If a peer has several connections, the sender uses the connections in turn. The
// receiver reads from the connections in the same order, so the order of messages is kept.
//
// With authentication codes, a piece counts as arrived only after its code, which follows its
// payload, was checked.
//
// Peers are not trusted. The run fails if a header does not have a rank of the peer and a message
// that the schedule expects. Headers are encoded in wire.cpp, tcp_stream.cpp reads and writes
// sockets, and messages inside a process go through LocalTransport.

#include "real/transport/tcp.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <poll.h>

#include "core/base/check.h"
#include "real/transport/local.h"
#include "real/transport/tcp_stream.h"
#include "real/transport/wire.h"

namespace tutti::real {

namespace {

/// Pieces are long because switching between sending and receiving takes time: with pieces of 128
/// KiB, 1 MiB takes a third longer (two processes on two cores). Longer pieces are not faster.
constexpr std::int64_t kPieceBytes = 512 << 10;
static_assert(kPieceBytes <= kMaxPieceBytes);
/// The maximum time for which a poll sleeps; short, since the caller may have other work to do.
constexpr std::chrono::milliseconds kLongestSleep{20};
/// The maximum number of bytes that are read from one socket before other sockets are served.
constexpr std::size_t kMaxPerTurn = 1 << 20;
/// Elements are read in place if they are aligned; otherwise they are copied first.
constexpr std::size_t kAlignment = 8;

}  // namespace

struct TcpTransport::State {
  /// Whole messages use a peer's streams in turn: message n uses the n-th stream, modulo the number
  /// of streams. A reader that follows the same order gets the messages in order, while the kernel
  /// receives the data of the other streams in parallel.
  struct Peer {
    std::int32_t worker = 0;
    std::vector<std::unique_ptr<TcpStream>> streams;
    std::size_t next_out = 0;
    std::size_t next_in = 0;
    bool early = false;  ///< true: the next message is for a collective that is not open yet, so
                         ///< reading is suspended

    [[nodiscard]] TcpStream& reading() { return *streams[next_in]; }
    void read_on() { next_in = next_in + 1 == streams.size() ? 0 : next_in + 1; }
    TcpStream& write_on() {
      TcpStream& stream = *streams[next_out];
      next_out = next_out + 1 == streams.size() ? 0 : next_out + 1;
      return stream;
    }
    [[nodiscard]] bool flushed() const {
      return std::all_of(streams.begin(), streams.end(),
                         [](const auto& s) { return s->queue().empty(); });
    }
  };

  boost::asio::io_context context;
  std::vector<std::unique_ptr<Peer>> peers;  ///< by worker; null for this worker
  std::vector<Peer*> others;                 ///< all workers other than this worker
  std::vector<pollfd> sockets;  ///< the sockets of all streams, by index of their peer in `others`
  std::vector<std::int32_t> worker_of;
  WaitOptions options;
  LocalTransport local;
  Receiver* receiver = nullptr;
  std::optional<core::Error> failure;
  std::int64_t carried = 0;

  Peer* peer_of(core::Rank rank) { return peers[worker_of[rank]].get(); }

  [[nodiscard]] bool is_of(const Peer& peer, core::Rank rank) const {
    const std::size_t place = rank;
    return place < worker_of.size() && worker_of[place] == peer.worker;
  }

  /// Records an error that the peer caused: the peer is gone, or it violates the protocol.
  void fail(const Peer& peer, core::ProblemCode code, const std::string& what) {
    if (!failure)
      failure =
          core::Error::run({code, "", peer.worker}, fmt::format("worker {} {}", peer.worker, what));
  }

  // --- writing ---

  /// Writes as much queued data to the socket as the kernel accepts. Returns true if any data was
  /// written.
  bool write(Peer& peer, TcpStream& stream) {
    bool moved = false;
    while (stream.writable && !stream.queue().empty()) {
      const ssize_t sent = stream.write_queue();
      if (sent < 0) {
        if (errno == EINTR) continue;
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
          stream.writable = false;
        } else {
          fail(peer, core::ProblemCode::kLost,
               fmt::format("has disconnected ({})", std::strerror(errno)));
        }
        break;
      }
      moved = true;
      carried += sent;
      std::size_t left = sent;
      // A message is removed before sent() is called, because sent() may queue further messages on
      // this stream.
      while (const auto gone = stream.written(left)) {
        if (gone->ticket) receiver->sent(*gone->ticket);
      }
    }
    return moved;
  }

  bool write(Peer& peer) {
    bool moved = false;
    for (const std::unique_ptr<TcpStream>& stream : peer.streams) {
      if (!stream->queue().empty()) moved = write(peer, *stream) || moved;
    }
    return moved;
  }

  // --- reading ---

  /// Reads available data from the peer's sockets, up to a limit, so that the sockets of other
  /// peers are also served. Returns true if any data was read.
  bool read(Peer& peer) {
    bool moved = false;
    if (peer.early) {
      peer.early = false;
      parse(peer);
      if (peer.early) return false;
      moved = true;
    }
    for (std::size_t taken = 0; taken < kMaxPerTurn && !failure;) {
      TcpStream& stream = peer.reading();
      bool more = true;
      const ssize_t got = stream.read(more);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
      if (got <= 0) {
        fail(peer, core::ProblemCode::kLost,
             got == 0 ? "has closed its connection"
                      : fmt::format("has disconnected ({})", std::strerror(errno)));
        break;
      }
      moved = true;
      carried += got;
      taken += static_cast<std::size_t>(got);
      parse(peer);
      if (peer.early || (!more && &stream == &peer.reading())) break;
    }
    return moved;
  }

  void refuse(const Peer& peer, const Piece& piece) {
    fail(peer, core::ProblemCode::kProtocol,
         fmt::format("sent a message that is not in its schedule (pack {}, from rank {} to rank "
                     "{}, {} of {} bytes)",
                     piece.channel.collective.pack, piece.channel.from, piece.channel.to,
                     piece.length, piece.total));
  }

  /// Processes the data that was read, stream after stream, until a stream needs more data.
  void parse(Peer& peer) {
    while (!failure && parse_one(peer, peer.reading())) peer.read_on();
  }

  /// Reads the rest of a message. Returns false if the message is incomplete.
  bool parse_one(Peer& peer, TcpStream& stream) {
    if (!stream.incoming) {
      if (!parse_header(peer, stream)) return false;
      if (!stream.incoming) return true;
    }
    TcpStream::Incoming& message = *stream.incoming;
    const std::size_t length = message.length();
    const std::size_t part = std::min(length - message.done, stream.unread().size());
    if (part > 0) std::memcpy(message.target + message.done, stream.unread().data(), part);
    stream.consume(part);
    message.done += part;
    if (message.done < length) return false;
    if (!check_code(peer, stream, encode(message.header), {message.target, length}, 0))
      return false;
    const Piece piece = message.header.piece;
    stream.incoming.reset();
    receiver->arrived(piece);
    return true;
  }

  /// Checks the authentication code that is `after` bytes behind the unread bytes' beginning, and
  /// removes these bytes and the code from the buffer. Returns false if the code is incomplete, and
  /// then removes nothing, or if it is wrong.
  bool check_code(const Peer& peer, TcpStream& stream, std::span<const std::byte> header,
                  std::span<const std::byte> payload, std::size_t after) {
    const std::size_t tail = stream.tail();
    if (stream.unread().size() < after + tail) return false;
    const std::span<const std::byte> code = stream.unread().subspan(after, tail);
    stream.consume(after + tail);
    if (stream.verify(header, payload, code)) return true;
    fail(peer, core::ProblemCode::kProtocol,
         "sent a message whose authentication code is wrong: the message was changed, repeated, "
         "dropped or reordered on the network");
    return false;
  }

  /// Reads a header. Returns false if the header is incomplete, or if the message cannot be
  /// accepted yet. If the message is short and has arrived completely, also processes its payload.
  bool parse_header(Peer& peer, TcpStream& stream) {
    const std::span<std::byte> unread = stream.unread();
    if (unread.size() < kHeaderBytes) return false;
    const std::span<const std::byte, kHeaderBytes> header_bytes = unread.first<kHeaderBytes>();
    const auto header = decode(header_bytes);
    if (!header)
      return fail(peer, core::ProblemCode::kProtocol, "sent data that is not a message of Tutti"),
             false;
    if (header->kind == Header::Kind::kPiece &&
        receiver->is_expected_early(header->piece.channel.collective)) {
      peer.early = true;
      return false;
    }
    if (header->kind == Header::Kind::kSlot) {
      if (!check_code(peer, stream, header_bytes, {}, kHeaderBytes)) return false;
      if (is_of(peer, header->piece.channel.to) && receiver->slot_freed(header->piece.channel))
        return true;
      return fail(peer, core::ProblemCode::kProtocol, "released a slot that was not in use"), false;
    }
    if (!is_of(peer, header->piece.channel.from)) {
      fail(peer, core::ProblemCode::kProtocol,
           fmt::format("sent a message in the name of rank {}, which belongs to another worker",
                       header->piece.channel.from));
      return false;
    }
    const std::size_t length = header->piece.length;
    std::byte* const bytes = unread.data() + kHeaderBytes;
    if (unread.size() >= kHeaderBytes + length + stream.tail() &&
        reinterpret_cast<std::uintptr_t>(bytes) % kAlignment == 0) {
      if (!check_code(peer, stream, header_bytes, {bytes, length}, kHeaderBytes + length))
        return false;
      if (!receiver->take(header->piece, bytes)) return refuse(peer, header->piece), false;
      return true;
    }
    stream.consume(kHeaderBytes);
    std::byte* const target = receiver->place(header->piece);
    if (!target) return refuse(peer, header->piece), false;
    stream.incoming = TcpStream::Incoming{*header, target};
    return true;
  }

  // --- waiting ---

  /// Sleeps until a socket is readable, or until a socket with pending output is writable.
  void sleep(Clock::time_point until) {
    watch(true);
    const auto left =
        std::min<std::chrono::nanoseconds>(until - Clock::now(), kLongestSleep).count();
    // Assume that all sockets have space again, even without a sleep. A caller that never sleeps
    // would otherwise not notice when a full socket has space.
    for (Peer* const peer : others) {
      for (const std::unique_ptr<TcpStream>& stream : peer->streams) stream->writable = true;
    }
    if (left <= 0) return;
    const timespec most{left / 1'000'000'000, left % 1'000'000'000};
    ::ppoll(sockets.data(), sockets.size(), &most, nullptr);
  }

  /// Sets the events for which to wait: for each peer, input of the stream that is read next, and
  /// output of the streams that have data to write.
  void watch(bool writes) {
    std::size_t i = 0;
    for (Peer* const peer : others) {
      for (const std::unique_ptr<TcpStream>& stream : peer->streams) {
        pollfd& socket = sockets[i++];
        const bool reads = stream.get() == &peer->reading() && !peer->early;
        const bool waits = writes && !stream->queue().empty();
        socket.fd = reads || waits ? stream->file() : -1;
        socket.events = static_cast<short>((reads ? POLLIN : 0) | (waits ? POLLOUT : 0));
      }
    }
  }

  /// Moves data without waiting. If there are several sockets, only sockets that have data are
  /// read.
  bool move() {
    if (failure) return false;
    bool moved = false;
    for (Peer* const peer : others) moved = write(*peer) || moved;
    if (failure) return moved;
    if (others.size() == 1) return read(*others.front()) || moved;
    watch(false);
    const auto has_input = [](Peer* peer) {
      return peer->early || peer->reading().tls_has_unread();
    };
    const bool known = std::any_of(others.begin(), others.end(), has_input);
    if (::poll(sockets.data(), sockets.size(), 0) <= 0 && !known) return moved;
    std::size_t first = 0;
    for (Peer* const peer : others) {
      if (has_input(peer) || sockets[first + peer->next_in].revents != 0)
        moved = read(*peer) || moved;
      first += peer->streams.size();
    }
    return moved;
  }
};

TcpTransport::TcpTransport(std::vector<Connection> connections, std::vector<std::int32_t> worker_of,
                           const WaitOptions& options, int streams, MessageMacs macs)
    : state_(std::make_unique<State>()) {
  TUTTI_CHECK(streams >= 1 && connections.size() % static_cast<std::size_t>(streams) == 0,
              "{} connections, {} to each", connections.size(), streams);
  const std::size_t each = streams;
  state_->worker_of = std::move(worker_of);
  state_->options = options;
  state_->peers.resize(connections.size() / each);
  for (std::size_t w = 0; w < state_->peers.size(); ++w) {
    if (!connections[w * each]) continue;
    auto peer = std::make_unique<State::Peer>();
    peer->worker = static_cast<std::int32_t>(w);
    for (std::size_t i = w * each; i < (w + 1) * each; ++i) {
      peer->streams.push_back(
          std::make_unique<TcpStream>(state_->context, std::move(connections[i]), macs));
      state_->sockets.push_back({peer->streams.back()->file(), POLLIN, 0});
    }
    state_->others.push_back(peer.get());
    state_->peers[w] = std::move(peer);
  }
}

TcpTransport::~TcpTransport() = default;

void TcpTransport::connect(Receiver& receiver, Devices& devices) {
  state_->receiver = &receiver;
  state_->local.connect(receiver, devices);
}

std::int64_t TcpTransport::carried() const { return state_->carried; }

std::int64_t TcpTransport::piece_bytes() const { return kPieceBytes; }

bool TcpTransport::is_local(core::Rank rank) const { return !state_->peer_of(rank); }

bool TcpTransport::send(const Piece& piece, const std::byte* payload, Ticket ticket) {
  State::Peer* const peer = state_->peer_of(piece.channel.to);
  if (!peer) return state_->local.send(piece, payload, ticket);
  TcpStream& stream = peer->write_on();
  stream.add(
      {encode({Header::Kind::kPiece, piece}), payload, static_cast<std::size_t>(piece.length)});
  // If the message is written completely here, Receiver::sent() is not called for it. If earlier
  // messages are queued, poll() writes this message later, and then calls Receiver::sent().
  if (stream.queue().size() == 1) state_->write(*peer, stream);
  if (stream.queue().empty()) return true;
  stream.queue().back().ticket = ticket;
  return false;
}

void TcpTransport::free_slot(const Channel& channel) {
  State::Peer* const peer = state_->peer_of(channel.from);
  if (!peer) return state_->local.free_slot(channel);
  Piece piece;
  piece.channel = channel;
  peer->write_on().add({encode({Header::Kind::kSlot, piece})});
}

core::Expected<void> TcpTransport::poll(Clock::time_point until) {
  State& s = *state_;
  const bool had_local = !s.local.flushed();
  if (had_local) static_cast<void>(s.local.poll({}));
  bool moved = s.move() || had_local;
  if (!moved && !s.failure) {
    moved = poll_until(std::min(until, Clock::now() + s.options.spin),
                       [&] { return s.move() || s.failure; });
    if (!moved && !s.failure) {
      s.sleep(until);
      s.move();
    }
  }
  if (s.failure) return tl::make_unexpected(*s.failure);
  return {};
}

bool TcpTransport::flushed() const {
  for (const std::unique_ptr<State::Peer>& peer : state_->peers) {
    if (peer && !peer->flushed()) return false;
  }
  return state_->local.flushed();
}

}  // namespace tutti::real
