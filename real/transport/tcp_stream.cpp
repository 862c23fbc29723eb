// A TCP connection between two workers. Messages are gathered into one system call, and a payload
// is read directly into its destination, together with the header that follows it. With TLS, up to
// 16 KiB of headers and payloads are gathered into one record.

#include "real/transport/tcp_stream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <netinet/tcp.h>
#include <sys/socket.h>

namespace tutti::real {

using boost::asio::ip::tcp;
using ErrorCode = boost::system::error_code;

namespace {

/// Headers and small payloads are read through a buffer of this size. The rest of a longer payload
/// is read directly into its destination.
constexpr std::size_t kAhead = kReadBufferBytes / 4;
/// The maximum number of messages that are written to a socket in one system call.
constexpr int kMaxAtOnce = 32;
/// The maximum number of bytes in a record of TLS (RFC 8446, section 5.1).
constexpr std::size_t kRecord = 16 << 10;

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

TcpStream::TcpStream(boost::asio::io_context& context, Connection connection, MessageMacs macs)
    : socket_(context), tls_(connection.release_tls()), buffer_(kReadBufferBytes) {
  if (macs == MessageMacs::kOn) {
    mac_out_.emplace(connection.keys().send_data);
    mac_in_.emplace(connection.keys().receive_data);
  }
  if (tls_) record_.reserve(kRecord);
  socket_.assign(tcp::v4(), connection.release());
  socket_.non_blocking(true);
  ErrorCode ignored;
  socket_.set_option(tcp::no_delay(true), ignored);
  choose_congestion_control(socket_);
}

void TcpStream::add(Outgoing message) {
  if (mac_out_) message.tag = mac_out_->next(message.header, {message.payload, message.length});
  queue_.push_back(message);
}

ssize_t TcpStream::write_queue() {
  iovec parts[3 * kMaxAtOnce];
  int count = 0;
  int messages = 0;
  for (auto out = queue_.begin(); out != queue_.end() && messages < kMaxAtOnce; ++out, ++messages) {
    if (out->written < kHeaderBytes)
      parts[count++] = {out->header.data() + out->written, kHeaderBytes - out->written};
    const std::size_t paid = out->written > kHeaderBytes ? out->written - kHeaderBytes : 0;
    if (paid < out->length)
      parts[count++] = {const_cast<std::byte*>(out->payload) + paid, out->length - paid};
    const std::size_t whole = kHeaderBytes + out->length;
    const std::size_t tagged = out->written > whole ? out->written - whole : 0;
    if (tagged < tail()) parts[count++] = {out->tag.data() + tagged, tail() - tagged};
  }
  return send(parts, count);
}

std::optional<TcpStream::Outgoing> TcpStream::written(std::size_t& bytes) {
  if (bytes == 0) return std::nullopt;
  Outgoing& out = queue_.front();
  const std::size_t rest = kHeaderBytes + out.length + tail() - out.written;
  const std::size_t part = std::min(bytes, rest);
  out.written += part;
  bytes -= part;
  if (part < rest) return std::nullopt;
  const Outgoing gone = out;
  queue_.pop_front();
  return gone;
}

/// As ::sendmsg() with the parts, or with TLS as many bytes of them as fit into a record.
ssize_t TcpStream::send(iovec* parts, int count) {
  if (tls_) return send_record(parts, count);
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = static_cast<std::size_t>(count);
  return ::sendmsg(file(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// If OpenSSL rejects a record, the same record must be passed to OpenSSL again, so its bytes are
/// kept in `record_`. The bytes also remain at the front of the queue.
ssize_t TcpStream::send_record(const iovec* parts, int count) {
  std::size_t room = record_.empty() ? kRecord : 0;
  for (int i = 0; i < count && room > 0; ++i) {
    const auto* const bytes = static_cast<const std::byte*>(parts[i].iov_base);
    const std::size_t part = std::min(room, parts[i].iov_len);
    record_.insert(record_.end(), bytes, bytes + part);
    room -= part;
  }
  const ssize_t sent = tls_->write(record_.data(), record_.size());
  if (sent > 0) record_.erase(record_.begin(), record_.begin() + sent);
  return sent;
}

ssize_t TcpStream::read(bool& more) {
  // Make space behind the unread bytes.
  if (begin_ == end_ || buffer_.size() - end_ < kAhead) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  std::byte* const target = incoming ? incoming->target + incoming->done : nullptr;
  const std::size_t missing = incoming ? incoming->length() - incoming->done : 0;
  std::byte* const behind = buffer_.data() + end_;
  const std::size_t room = std::min(buffer_.size() - end_, missing > 0 ? kHeaderBytes : kAhead);
  ssize_t got = 0;
  if (tls_) {
    got = missing > 0 ? tls_->read(target, missing) : tls_->read(behind, room);
  } else if (missing == 0) {
    got = ::recv(file(), behind, room, MSG_DONTWAIT);
  } else {
    iovec parts[2] = {{target, missing}, {behind, room}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    got = ::recvmsg(file(), &message, MSG_DONTWAIT);
  }
  if (got <= 0) return got;
  const std::size_t bytes = got;
  const std::size_t straight = std::min(bytes, missing);
  if (incoming) incoming->done += straight;
  end_ += bytes - straight;
  // A read of TLS returns at most one record, so a short read does not mean that no more data is
  // available.
  more = tls_ || bytes == missing + room;
  return got;
}

bool TcpStream::verify(std::span<const std::byte> header, std::span<const std::byte> payload,
                       std::span<const std::byte> code) {
  return !mac_in_ || mac_in_->verify(header, payload, code.first<kMacBytes>());
}

}  // namespace tutti::real
