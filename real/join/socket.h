#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/base/error.h"

namespace tutti::real {

/// An owned file descriptor, closed by the destructor.
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

/// Parses "HOST:PORT". Port 0 (any port) is valid only with `any_port`. Returns nullopt if the text
/// is invalid.
std::optional<Address> parse_address(const std::string& written, bool any_port = false);

/// A set of IPv4 addresses with a common prefix.
struct Subnet {
  std::uint32_t address = 0;  ///< in the byte order of this machine
  int bits = 32;              ///< length of the prefix

  [[nodiscard]] bool contains(std::uint32_t other) const;
};
/// Parses "ADDRESS/BITS", or a single address. Returns nothing if the text has neither form.
std::optional<Subnet> parse_subnet(const std::string& written);
/// Converts an IPv4 address such as "10.0.0.1" to a number. Returns nothing for a name or any other
/// text.
std::optional<std::uint32_t> ipv4_number(const std::string& host);
/// Returns true if the host is an IPv4 address, in digits, that belongs to this machine.
bool is_own_address(const std::string& host);

/// Returns true if only this machine can reach the host: the host is an address in 127.0.0.0/8, or
/// a name that resolves to such an address. ERRORS: the name cannot be resolved.
core::Expected<bool> is_loopback(const std::string& host);
/// Returns true for 0.0.0.0, which represents all addresses of this machine.
bool is_every_address(const std::string& host);

/// A listening socket whose accept() does not block.
class Listener {
 public:
  /// Listens at an address. If the port is 0, the system chooses the port. ERRORS: the address is
  /// not an address of this machine; the port is in use.
  static core::Expected<Listener> open(const Address& at);

  /// Returns the address, with the port that the system chose.
  [[nodiscard]] const Address& address() const { return address_; }
  [[nodiscard]] int file() const { return socket_.get(); }
  /// Returns the next pending connection without waiting; nullopt if there is none.
  [[nodiscard]] std::optional<Socket> accept() const;

 private:
  Listener(Socket socket, Address address)
      : socket_(std::move(socket)), address_(std::move(address)) {}
  Socket socket_;
  Address address_;
};

/// Starts to connect. The socket becomes writable when the connection is made or has failed.
/// ERRORS: the name cannot be resolved.
core::Expected<Socket> begin_connecting(const Address& to);
/// Returns the reason why the connection failed; nullopt if the connection succeeded. REQUIRES: the
/// socket has become writable.
std::optional<std::string> connecting_failed(const Socket& socket);

/// own_host() returns the address of this end of a connection, and their_host() returns the address
/// of the other end, both in numeric form.
std::string own_host(int socket);
std::string their_host(int socket);

}  // namespace tutti::real
