#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <utility>

#include "real/join/session_keys.h"
#include "real/join/socket.h"
#include "real/join/tls.h"

namespace tutti::real {

/// An authenticated connection: its socket, the keys that its handshake has derived, and TLS if the
/// run uses TLS. Never waits.
class Connection {
 public:
  Connection() = default;
  Connection(Socket socket, const SessionKeys& keys, std::unique_ptr<Tls> tls = nullptr)
      : socket_(std::move(socket)), keys_(keys), tls_(std::move(tls)) {}
  Connection(Connection&&) noexcept = default;
  Connection& operator=(Connection&& other) noexcept;
  ~Connection() = default;

  explicit operator bool() const { return static_cast<bool>(socket_); }
  [[nodiscard]] int file() const { return socket_.get(); }
  [[nodiscard]] const SessionKeys& keys() const { return keys_; }
  [[nodiscard]] bool encrypted() const { return tls_ != nullptr; }

  /// Like ::send() and ::recv(), but without waiting. Returns the number of bytes; 0 if the other
  /// end has closed the connection (receive only); or -1 after an error, which is in errno. With
  /// TLS, a send that was not accepted (EAGAIN) must be repeated with the same bytes.
  ssize_t send(const void* bytes, std::size_t size);
  ssize_t receive(void* bytes, std::size_t size);
  /// Returns true if TLS has decrypted bytes that receive() has not returned yet. The socket need
  /// not be readable in this case.
  [[nodiscard]] bool has_unread() const { return tls_ && tls_->has_unread(); }
  /// Closes the sending direction. The other end still receives the data that was sent before.
  void end_sending();
  /// Transfers ownership of the TLS state to the caller; null if the connection has no TLS. The
  /// socket must outlive the returned object.
  std::unique_ptr<Tls> release_tls() { return std::move(tls_); }
  /// Transfers ownership of the socket to the caller. REQUIRES: the connection has no TLS, or
  /// release_tls() was called.
  int release();

 private:
  Socket socket_;
  SessionKeys keys_;
  std::unique_ptr<Tls> tls_;  ///< destroyed before the socket
};

}  // namespace tutti::real
