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

/// An endpoint: a host name or an IPv4 address, and a port.
struct Address {
  std::string host;
  int port = 0;

  bool operator==(const Address&) const = default;
};
std::string to_string(const Address& address);

/// Parses "HOST:PORT"; port 0 (any) only if `any_port`. Returns nothing if it is invalid.
std::optional<Address> parse_address(const std::string& written, bool any_port = false);

/// True if only this machine can reach the host: 127.0.0.0/8, or a name for it. ERRORS: the name
/// cannot be resolved.
core::Expected<bool> is_loopback(const std::string& host);
/// True for 0.0.0.0: every address of this machine.
bool is_every_address(const std::string& host);

/// A listening socket whose accept() does not block.
class Listener {
 public:
  /// Port 0: the system chooses one. ERRORS: this machine does not have the host's address; the
  /// port is taken.
  static core::Expected<Listener> open(const Address& at);

  /// Includes the port that the system chose.
  [[nodiscard]] const Address& address() const { return address_; }
  [[nodiscard]] int file() const { return socket_.get(); }
  /// Returns the next pending connection, without waiting; nothing if there is none.
  [[nodiscard]] std::optional<Socket> accept() const;

 private:
  Listener(Socket socket, Address address)
      : socket_(std::move(socket)), address_(std::move(address)) {}
  Socket socket_;
  Address address_;
};

/// Starts to connect; the socket becomes writable when this is complete. ERRORS: the name cannot be
/// resolved.
core::Expected<Socket> begin_connecting(const Address& to);
/// Returns why the connection failed, once it is complete; nothing if it succeeded.
std::optional<std::string> connecting_failed(const Socket& socket);

/// The addresses of the two ends of a connection, in numeric form.
std::string own_host(int socket);
std::string their_host(int socket);

}  // namespace tutti::real
