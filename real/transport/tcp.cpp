// Moves messages between processes in one thread, with scatter and gather calls on non-blocking
// sockets; Asio only owns the sockets. A long payload goes from the kernel directly to its
// destination, and only headers and short messages pass through a buffer. A message for a
// collective that is not open yet remains unread. TCP's flow control then stops the sender, so no
// memory is needed. If a peer has several connections, the sender uses the connections in turn. The
// receiver reads from the connections in the same order, so the order of messages is kept.
//
// With TLS, up to 16 KiB of headers and payloads are gathered into one record. With authentication
// codes, a piece counts as arrived only after its code, which follows its payload, was checked.
//
// Peers are not trusted. The run fails if a header does not have a rank of the peer and a message
// that the schedule expects. Headers are encoded in wire.cpp, and messages inside a process go
// through LocalTransport.

#include "real/transport/tcp.h"

#include <algorithm>
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
#include "real/wire/frame_mac.h"

namespace tutti::real {

using boost::asio::ip::tcp;
using ErrorCode = boost::system::error_code;

namespace {

/// Headers and small payloads are read through a buffer of this size. The rest of a longer payload
/// is read directly into its destination.
constexpr std::size_t kAhead = kReadBufferBytes / 4;
/// Pieces are long because switching between sending and receiving takes time: with pieces of 128
/// KiB, 1 MiB takes a third longer (two processes on two cores). Longer pieces are not faster.
constexpr std::int64_t kPieceBytes = 512 << 10;
static_assert(kPieceBytes <= kMaxPieceBytes);
/// The maximum time for which a poll sleeps; short, since the caller may have other work to do.
constexpr std::chrono::milliseconds kLongestSleep{20};
/// The maximum number of bytes that are read from one socket before other sockets are served.
constexpr std::size_t kMaxPerTurn = 1 << 20;
/// The maximum number of messages that are written to a socket in one system call.
constexpr int kMaxAtOnce = 32;
/// The maximum number of bytes in a record of TLS (RFC 8446, section 5.1).
constexpr std::size_t kRecord = 16 << 10;
/// Elements are read in place if they are aligned; otherwise they are copied first.
constexpr std::size_t kAlignment = 8;

/// BBR, the default congestion control of some kernels, limits even loopback to half the bandwidth
/// of CUBIC. If CUBIC is reserved for privileged processes, Reno is used on loopback, where Reno is
/// as fast. If neither CUBIC nor Reno is chosen, the kernel's default is kept.
void choose_congestion_control(tcp::socket& socket) {
  const int file = socket.native_handle();
  if (::setsockopt(file, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5) == 0) return;
  ErrorCode error;
  const auto peer = socket.remote_endpoint(error);
  if (!error && peer.address().is_loopback())
    ::setsockopt(file, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
}

}  // namespace

struct TcpTransport::State {
  struct Outgoing {
    HeaderBytes header;
    const std::byte* payload = nullptr;
    std::size_t length = 0;
    Ticket ticket = 0;
    std::size_t written = 0;  ///< the number of bytes written, of header and payload together
    bool has_ticket = false;
    MacTag tag{};  ///< the authentication code, if the run has codes
  };

  /// A connection to a peer.
  struct Stream {
    explicit Stream(boost::asio::io_context& context) : socket(context), buffer(kReadBufferBytes) {}
    tcp::socket socket;
    std::unique_ptr<Tls> tls;                 ///< null: no TLS
    std::vector<std::byte> record;            ///< with TLS: bytes that TLS has not accepted yet
    std::optional<FrameMac> mac_out, mac_in;  ///< set if messages have authentication codes
    std::deque<Outgoing> queue;
    std::vector<std::byte> buffer;
    std::size_t begin = 0;  ///< start of the unread bytes in the buffer
    std::size_t end = 0;
    bool in_payload = false;
    Header header;
    std::byte* target = nullptr;
    std::size_t done = 0;  ///< payload bytes that were received
    std::size_t straight =
        0;  ///< the number of bytes of the current read that go directly to the target
    bool writable = true;  ///< false: the socket is known to be full

    /// The number of bytes of the authentication code after each message.
    [[nodiscard]] std::size_t tail() const { return mac_in ? kMacBytes : 0; }
    [[nodiscard]] bool has_unread() const { return tls && tls->has_unread(); }

    /// Queues a message.
    void add(Outgoing message) {
      if (mac_out) message.tag = mac_out->next(message.header, {message.payload, message.length});
      queue.push_back(message);
    }
    /// Passes as many bytes of the parts as possible to the kernel, as ::sendmsg().
    ssize_t send(iovec* parts, int count) {
      if (tls) return send_record(parts, count);
      msghdr message{};
      message.msg_iov = parts;
      message.msg_iovlen = static_cast<std::size_t>(count);
      return ::sendmsg(socket.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    }

   private:
    /// If OpenSSL rejects a record, the same record must be passed to OpenSSL again, so its bytes
    /// are kept in `record`. The bytes also remain at the front of the queue.
    ssize_t send_record(const iovec* parts, int count) {
      std::size_t room = record.empty() ? kRecord : 0;
      for (int i = 0; i < count && room > 0; ++i) {
        const auto* const bytes = static_cast<const std::byte*>(parts[i].iov_base);
        const std::size_t part = std::min(room, parts[i].iov_len);
        record.insert(record.end(), bytes, bytes + part);
        room -= part;
      }
      const ssize_t sent = tls->write(record.data(), record.size());
      if (sent > 0) record.erase(record.begin(), record.begin() + sent);
      return sent;
    }
  };

  /// Whole messages use a peer's streams in turn: message n uses the n-th stream, modulo the number
  /// of streams. A reader that follows the same order gets the messages in order, while the kernel
  /// receives the data of the other streams in parallel.
  struct Peer {
    std::int32_t worker = 0;
    std::vector<std::unique_ptr<Stream>> streams;
    std::size_t next_out = 0;
    std::size_t next_in = 0;
    bool early = false;  ///< true: the next message is for a collective that is not open yet, so
                         ///< reading is suspended

    [[nodiscard]] Stream& reading() { return *streams[next_in]; }
    void read_on() { next_in = next_in + 1 == streams.size() ? 0 : next_in + 1; }
    Stream& write_on() {
      Stream& stream = *streams[next_out];
      next_out = next_out + 1 == streams.size() ? 0 : next_out + 1;
      return stream;
    }
    [[nodiscard]] bool flushed() const {
      return std::all_of(streams.begin(), streams.end(),
                         [](const auto& s) { return s->queue.empty(); });
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
  bool write(Peer& peer, Stream& stream) {
    bool moved = false;
    while (stream.writable && !stream.queue.empty()) {
      iovec parts[3 * kMaxAtOnce];
      const std::size_t tail = stream.tail();
      int count = 0;
      int messages = 0;
      for (auto out = stream.queue.begin(); out != stream.queue.end() && messages < kMaxAtOnce;
           ++out, ++messages) {
        if (out->written < kHeaderBytes)
          parts[count++] = {out->header.data() + out->written, kHeaderBytes - out->written};
        const std::size_t paid = out->written > kHeaderBytes ? out->written - kHeaderBytes : 0;
        if (paid < out->length)
          parts[count++] = {const_cast<std::byte*>(out->payload) + paid, out->length - paid};
        const std::size_t whole = kHeaderBytes + out->length;
        const std::size_t tagged = out->written > whole ? out->written - whole : 0;
        if (tagged < tail) parts[count++] = {out->tag.data() + tagged, tail - tagged};
      }
      const ssize_t sent = stream.send(parts, count);
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
      while (left > 0) {
        Outgoing& out = stream.queue.front();
        const std::size_t rest = kHeaderBytes + out.length + tail - out.written;
        const std::size_t part = std::min(left, rest);
        out.written += part;
        left -= part;
        if (part < rest) break;
        // Remove the message before calling sent(), because sent() may queue further messages on
        // this stream.
        const Outgoing gone = out;
        stream.queue.pop_front();
        if (gone.has_ticket) receiver->sent(gone.ticket);
      }
    }
    return moved;
  }

  bool write(Peer& peer) {
    bool moved = false;
    for (const std::unique_ptr<Stream>& stream : peer.streams) {
      if (!stream->queue.empty()) moved = write(peer, *stream) || moved;
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
      Stream& stream = peer.reading();
      std::size_t requested = 0;
      const ssize_t got = receive(stream, requested);
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
      std::size_t bytes = got;
      taken += bytes;
      const std::size_t straight = std::min(bytes, stream.straight);
      stream.done += straight;
      stream.end += bytes - straight;
      parse(peer);
      if (peer.early || (bytes < requested && &stream == &peer.reading()))
        break;  // there is probably nothing more
    }
    return moved;
  }

  /// Reads the rest of a payload directly into its destination, and only the next header into the
  /// buffer. If no payload is being read, all data (including short messages) goes to the buffer.
  static ssize_t receive(Stream& stream, std::size_t& requested) {
    if (stream.begin == stream.end) stream.begin = stream.end = 0;
    const std::size_t missing =
        stream.in_payload ? static_cast<std::size_t>(stream.header.piece.length) - stream.done : 0;
    stream.straight = missing;
    const std::size_t room =
        std::min(stream.buffer.size() - stream.end, missing > 0 ? kHeaderBytes : kAhead);
    requested = missing + room;
    if (stream.tls) {
      // A read returns at most one record, so a short read does not mean that no more data is
      // available.
      requested = 0;
      return missing > 0 ? stream.tls->read(stream.target + stream.done, missing)
                         : stream.tls->read(stream.buffer.data() + stream.end, room);
    }
    const int file = stream.socket.native_handle();
    if (missing == 0) return ::recv(file, stream.buffer.data() + stream.end, room, MSG_DONTWAIT);
    iovec parts[2] = {{stream.target + stream.done, missing},
                      {stream.buffer.data() + stream.end, room}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    return ::recvmsg(file, &message, MSG_DONTWAIT);
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
  bool parse_one(Peer& peer, Stream& stream) {
    if (!stream.in_payload) {
      if (!parse_header(peer, stream)) return false;
      if (!stream.in_payload) return true;
    }
    const std::size_t length = stream.header.piece.length;
    const std::size_t part = std::min(length - stream.done, stream.end - stream.begin);
    if (part > 0)
      std::memcpy(stream.target + stream.done, stream.buffer.data() + stream.begin, part);
    stream.begin += part;
    stream.done += part;
    if (stream.done < length) return false;
    if (!check_code(peer, stream, encode(stream.header), {stream.target, length}, 0)) return false;
    stream.in_payload = false;
    receiver->arrived(stream.header.piece);
    return true;
  }

  /// Checks the authentication code that is `after` bytes behind the unread bytes' beginning, and
  /// removes these bytes and the code from the buffer. Returns false if the code is incomplete, and
  /// then removes nothing, or if it is wrong.
  bool check_code(const Peer& peer, Stream& stream, std::span<const std::byte> header,
                  std::span<const std::byte> payload, std::size_t after) {
    if (!stream.mac_in) {
      stream.begin += after;
      return true;
    }
    if (stream.end - stream.begin < after + kMacBytes) {
      keep_room(stream);
      return false;
    }
    const std::span<const std::byte, kMacBytes> code(stream.buffer.data() + stream.begin + after,
                                                     kMacBytes);
    stream.begin += after + kMacBytes;
    if (stream.mac_in->verify(header, payload, code)) return true;
    fail(peer, core::ProblemCode::kProtocol,
         "sent a message whose authentication code is wrong: the message was changed, repeated, "
         "dropped or reordered on the network");
    return false;
  }

  /// Reads a header. Returns false if the header is incomplete, or if the message cannot be
  /// accepted yet. If the message is short and has arrived completely, also processes its payload.
  bool parse_header(Peer& peer, Stream& stream) {
    if (stream.end - stream.begin < kHeaderBytes) {
      keep_room(stream);
      return false;
    }
    const auto header = decode(std::span<const std::byte, kHeaderBytes>(
        stream.buffer.data() + stream.begin, kHeaderBytes));
    if (!header)
      return fail(peer, core::ProblemCode::kProtocol, "sent data that is not a message of Tutti"),
             false;
    if (header->kind == Header::Kind::kPiece &&
        receiver->is_expected_early(header->piece.channel.collective)) {
      peer.early = true;
      return false;
    }
    const std::span<const std::byte> header_bytes(stream.buffer.data() + stream.begin,
                                                  kHeaderBytes);
    if (header->kind == Header::Kind::kSlot) {
      if (!check_code(peer, stream, header_bytes, {}, kHeaderBytes)) return false;
      if (is_of(peer, header->piece.channel.to) && receiver->slot_freed(header->piece.channel))
        return true;
      return fail(peer, core::ProblemCode::kProtocol, "released a slot that was not in use"), false;
    }
    if (!is_of(peer, header->piece.channel.from)) {
      fail(peer, core::ProblemCode::kProtocol,
           fmt::format("sent a message for rank {}, which belongs to another worker",
                       header->piece.channel.from));
      return false;
    }
    const std::size_t length = header->piece.length;
    std::byte* const bytes = stream.buffer.data() + stream.begin + kHeaderBytes;
    if (stream.end - stream.begin >= kHeaderBytes + length + stream.tail() &&
        reinterpret_cast<std::uintptr_t>(bytes) % kAlignment == 0) {
      if (!check_code(peer, stream, header_bytes, {bytes, length}, kHeaderBytes + length))
        return false;
      if (!receiver->take(header->piece, bytes)) return refuse(peer, header->piece), false;
      return true;
    }
    stream.begin += kHeaderBytes;
    stream.header = *header;
    stream.target = receiver->place(header->piece);
    if (!stream.target) return refuse(peer, header->piece), false;
    stream.done = 0;
    stream.in_payload = true;
    return true;
  }

  /// Makes space in the buffer behind its unread bytes.
  static void keep_room(Stream& stream) {
    if (stream.begin == 0 || stream.buffer.size() - stream.end >= kAhead) return;
    std::memmove(stream.buffer.data(), stream.buffer.data() + stream.begin,
                 stream.end - stream.begin);
    stream.end -= stream.begin;
    stream.begin = 0;
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
      for (const std::unique_ptr<Stream>& stream : peer->streams) stream->writable = true;
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
      for (const std::unique_ptr<Stream>& stream : peer->streams) {
        pollfd& socket = sockets[i++];
        const bool reads = stream.get() == &peer->reading() && !peer->early;
        const bool waits = writes && !stream->queue.empty();
        socket.fd = reads || waits ? stream->socket.native_handle() : -1;
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
    const auto has_input = [](Peer* peer) { return peer->early || peer->reading().has_unread(); };
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
      peer->streams.push_back(std::make_unique<State::Stream>(state_->context));
      State::Stream& stream = *peer->streams.back();
      if (macs == MessageMacs::kOn) {
        stream.mac_out.emplace(connections[i].keys().send_data);
        stream.mac_in.emplace(connections[i].keys().receive_data);
      }
      stream.tls = connections[i].release_tls();
      if (stream.tls) stream.record.reserve(kRecord);
      tcp::socket& socket = stream.socket;
      const int file = connections[i].release();
      socket.assign(tcp::v4(), file);
      socket.non_blocking(true);
      ErrorCode ignored;
      socket.set_option(tcp::no_delay(true), ignored);
      choose_congestion_control(socket);
      state_->sockets.push_back({file, POLLIN, 0});
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
  State::Stream& stream = peer->write_on();
  stream.add({encode({Header::Kind::kPiece, piece}), payload,
              static_cast<std::size_t>(piece.length), ticket});
  // If the message is written completely here, Receiver::sent() is not called for it. If earlier
  // messages are queued, poll() writes this message later, and then calls Receiver::sent().
  if (stream.queue.size() == 1) state_->write(*peer, stream);
  if (stream.queue.empty()) return true;
  stream.queue.back().has_ticket = true;
  return false;
}

void TcpTransport::free_slot(const Channel& channel) {
  State::Peer* const peer = state_->peer_of(channel.from);
  if (!peer) return state_->local.free_slot(channel);
  Piece piece;
  piece.channel = channel;
  peer->write_on().add({encode({Header::Kind::kSlot, piece}), nullptr, 0, 0});
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
