#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "core/base/error.h"

namespace tutti::real {

/// A file descriptor that is closed with its owner.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int file) : file_(file) {}
  Socket(Socket&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~Socket();

  [[nodiscard]] int get() const { return file_; }
  [[nodiscard]] int release() { return std::exchange(file_, -1); }
  explicit operator bool() const { return file_ >= 0; }

 private:
  int file_ = -1;
};

/// Where someone listens: a name or an IPv4 address, and a port.
struct Address {
  std::string host;
  int port = 0;

  bool operator==(const Address&) const = default;
};
std::string to_string(const Address& address);

/// "HOST:PORT"; port 0 (any) only if `any_port`. Nothing if it is not that.
std::optional<Address> parse_address(const std::string& written, bool any_port = false);

/// Whether only this machine can reach the host: 127.0.0.0/8, or a name for it. ERRORS: nobody knows the name.
core::Expected<bool> is_loopback(const std::string& host);
/// 0.0.0.0: every address of this machine.
bool is_every_address(const std::string& host);

/// Listens, without waiting in accept().
class Listener {
 public:
  /// Port 0: one that the system chooses. ERRORS: the host is none of this machine's, the port is taken.
  static core::Expected<Listener> open(const Address& at);

  /// With the port that it is.
  [[nodiscard]] const Address& address() const { return address_; }
  [[nodiscard]] int file() const { return socket_.get(); }
  /// A connection that has come, not waiting for one; nothing if there is none.
  [[nodiscard]] std::optional<Socket> accept() const;

 private:
  Listener(Socket socket, Address address) : socket_(std::move(socket)), address_(std::move(address)) {}
  Socket socket_;
  Address address_;
};

/// Begins to connect; the socket can be written to once it is through. ERRORS: nobody knows the name.
core::Expected<Socket> begin_connecting(const Address& to);
/// After that: why it did not work out; nothing if it did.
std::optional<std::string> connecting_failed(const Socket& socket);

/// The addresses of the two ends of a connection, in numbers.
std::string own_host(int socket);
std::string their_host(int socket);

}  // namespace tutti::real
