#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <sys/types.h>
#include <sys/uio.h>

#include "real/join/connection.h"
#include "real/transport/asio.h"
#include "real/transport/tcp.h"
#include "real/transport/transport.h"
#include "real/transport/wire.h"
#include "real/wire/frame_mac.h"

namespace tutti::real {

/// A connection to a peer: the messages that wait to be written, and the bytes that were read but
/// not processed yet. The functions that read and write have the results and errno of ::sendmsg()
/// and ::recvmsg().
class TcpStream {
 public:
  struct Outgoing {
    HeaderBytes header;
    const std::byte* payload = nullptr;  ///< must stay valid until the message is written
    std::size_t length = 0;
    /// If set, Receiver::sent() is called with this ticket when the message is written.
    std::optional<Ticket> ticket{};
    std::size_t written = 0;  ///< bytes written of the header, the payload and the code together
    MacTag tag{};             ///< the authentication code, if the run has codes
  };
  /// A message whose header was processed, and whose payload is being received.
  struct Incoming {
    Header header;
    std::byte* target = nullptr;  ///< has space for the payload
    std::size_t done = 0;         ///< payload bytes that were received

    [[nodiscard]] std::size_t length() const {
      return static_cast<std::size_t>(header.piece.length);
    }
  };

  /// Takes over a connection, and chooses the options of its socket.
  TcpStream(boost::asio::io_context& context, Connection connection, MessageMacs macs);

  [[nodiscard]] int file() { return socket_.native_handle(); }
  /// The number of bytes of the authentication code after each message.
  [[nodiscard]] std::size_t tail() const { return mac_in_ ? kMacBytes : 0; }

  // --- writing ---

  /// Queues a message.
  void add(Outgoing message);
  /// The messages that were not written completely, in their order. Only the first may have been
  /// written in part.
  [[nodiscard]] std::deque<Outgoing>& queue() { return queue_; }
  /// Passes as many bytes of the first messages of the queue as possible to the kernel.
  ssize_t write_queue();
  /// Counts up to `bytes` bytes of the first message of the queue as written, and subtracts them
  /// from `bytes`. If the message is then complete, removes it from the queue and returns it.
  std::optional<Outgoing> written(std::size_t& bytes);

  bool writable = true;  ///< false: the socket is known to be full

  // --- reading ---

  /// Reads the rest of the payload of `incoming` directly into its target, and only the next header
  /// into the buffer. Without `incoming`, all data (including short messages) goes to the buffer.
  /// REQUIRES: unread() is shorter than a header and a code together.
  ///
  /// `more`: set to false if the kernel had fewer bytes than requested, so that there are probably
  /// no more bytes to read.
  ssize_t read(bool& more);
  /// True if TLS has decrypted bytes that were not read yet.
  [[nodiscard]] bool tls_has_unread() const { return tls_ && tls_->has_unread(); }
  /// The bytes in the buffer that were not processed yet. Valid until the next read().
  [[nodiscard]] std::span<std::byte> unread() { return {buffer_.data() + begin_, end_ - begin_}; }
  /// Removes the first `bytes` bytes of unread().
  void consume(std::size_t bytes) { begin_ += bytes; }
  /// Returns true if `code`, of tail() bytes, is the authentication code of the next message.
  [[nodiscard]] bool verify(std::span<const std::byte> header, std::span<const std::byte> payload,
                            std::span<const std::byte> code);

  std::optional<Incoming> incoming;  ///< nullopt: a header is expected

 private:
  ssize_t send(iovec* parts, int count);
  ssize_t send_record(const iovec* parts, int count);

  boost::asio::ip::tcp::socket socket_;
  std::unique_ptr<Tls> tls_;                  ///< null: no TLS; destroyed before the socket
  std::vector<std::byte> record_;             ///< with TLS: bytes that TLS has not accepted yet
  std::optional<FrameMac> mac_out_, mac_in_;  ///< set if messages have authentication codes
  std::deque<Outgoing> queue_;
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;  ///< start of the unread bytes in the buffer
  std::size_t end_ = 0;    ///< end of the unread bytes in the buffer
};

}  // namespace tutti::real
