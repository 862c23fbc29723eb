#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
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
struct TcpStream {
  struct Outgoing {
    HeaderBytes header;
    const std::byte* payload = nullptr;
    std::size_t length = 0;
    Ticket ticket = 0;
    std::size_t written = 0;  ///< the number of bytes written, of header and payload together
    bool has_ticket = false;
    MacTag tag{};  ///< the authentication code, if the run has codes
  };

  explicit TcpStream(boost::asio::io_context& context);

  boost::asio::ip::tcp::socket socket;
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
  bool writable = true;  ///< false: the socket is known to be full

  /// Takes over a connection, and chooses the options of its socket.
  void open(Connection connection, MessageMacs macs);

  /// The number of bytes of the authentication code after each message.
  [[nodiscard]] std::size_t tail() const { return mac_in ? kMacBytes : 0; }
  /// The number of bytes in the buffer that were not processed yet.
  [[nodiscard]] std::size_t unread() const { return end - begin; }
  /// True if TLS has decrypted bytes that were not read yet.
  [[nodiscard]] bool tls_has_unread() const { return tls && tls->has_unread(); }

  /// Queues a message.
  void add(Outgoing message);
  /// Passes as many bytes of the first messages of the queue as possible to the kernel.
  ssize_t write_queue();
  /// Counts up to `bytes` bytes of the first message of the queue as written, and subtracts them
  /// from `bytes`. If the message is then complete, removes it from the queue and returns it.
  std::optional<Outgoing> written(std::size_t& bytes);

  /// Reads the rest of a payload directly into its destination, and only the next header into the
  /// buffer. If no payload is being read, all data (including short messages) goes to the buffer.
  /// Advances `done` and `end` by the bytes that were read.
  ///
  /// `more`: set to false if the kernel had fewer bytes than requested, so that there are probably
  /// no more bytes to read.
  ssize_t read(bool& more);
  /// Makes space in the buffer behind its unread bytes.
  void keep_room();

 private:
  ssize_t send(iovec* parts, int count);
  ssize_t send_record(const iovec* parts, int count);
};

}  // namespace tutti::real
