#include "real/join/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "real/process/system_limits.h"

namespace tutti::real {

using core::Error;
using core::Expected;

namespace {

Expected<in_addr> resolve(const std::string& host) {
  addrinfo wanted{};
  wanted.ai_family = AF_INET;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int status = ::getaddrinfo(host.c_str(), nullptr, &wanted, &found);
  if (status != 0 || !found) {
    return tl::make_unexpected(Error::run(
        {core::ProblemCode::kSystem},
        fmt::format("{}: this name has no IPv4 address ({})", host, ::gai_strerror(status))));
  }
  const in_addr address = reinterpret_cast<const sockaddr_in*>(found->ai_addr)->sin_addr;
  ::freeaddrinfo(found);
  return address;
}

sockaddr_in as_sockaddr(in_addr host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr = host;
  return address;
}

std::string text_of(const sockaddr_in& address) {
  char text[INET_ADDRSTRLEN] = "?";
  ::inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
  return text;
}

Socket new_socket() {
  return Socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

}  // namespace

Socket::~Socket() {
  if (file_ >= 0) ::close(file_);
}

std::string to_string(const Address& address) {
  return fmt::format("{}:{}", address.host, address.port);
}

std::optional<Address> parse_address(const std::string& written, bool any_port) {
  const std::size_t colon = written.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == written.size()) return std::nullopt;
  Address address{written.substr(0, colon), 0};
  const char* const end = written.data() + written.size();
  const auto [stop, status] = std::from_chars(written.data() + colon + 1, end, address.port);
  if (status != std::errc() || stop != end || address.port < (any_port ? 0 : 1) ||
      address.port > 65'535)
    return std::nullopt;
  if (address.host.find_first_of(":/[] \t") != std::string::npos) return std::nullopt;
  return address;
}

bool Subnet::contains(std::uint32_t other) const {
  return bits == 0 || (address ^ other) >> (32 - bits) == 0;
}

std::optional<std::uint32_t> ipv4_number(const std::string& host) {
  in_addr address{};
  if (::inet_pton(AF_INET, host.c_str(), &address) != 1) return std::nullopt;
  return ntohl(address.s_addr);
}

std::optional<Subnet> parse_subnet(const std::string& written) {
  const std::size_t slash = written.find('/');
  const auto address = ipv4_number(written.substr(0, slash));
  if (!address) return std::nullopt;
  Subnet subnet{*address, 32};
  if (slash == std::string::npos) return subnet;
  const char* const end = written.data() + written.size();
  const auto [stop, status] = std::from_chars(written.data() + slash + 1, end, subnet.bits);
  if (status != std::errc() || stop != end || subnet.bits < 0 || subnet.bits > 32)
    return std::nullopt;
  return subnet;
}

bool is_own_address(const std::string& host) {
  const auto number = ipv4_number(host);
  if (!number || *number == INADDR_ANY) return false;
  // Only addresses of this machine can be bound.
  const Socket socket = new_socket();
  in_addr address{};
  address.s_addr = htonl(*number);
  const sockaddr_in at = as_sockaddr(address, 0);
  return socket && ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
}

Expected<bool> is_loopback(const std::string& host) {
  const auto address = resolve(host);
  if (!address) return tl::make_unexpected(address.error());
  return ntohl(address->s_addr) >> 24 == IN_LOOPBACKNET;
}

bool is_every_address(const std::string& host) {
  in_addr address{};
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1 && address.s_addr == INADDR_ANY;
}

Expected<Listener> Listener::open(const Address& at) {
  const auto host = resolve(at.host);
  if (!host) return tl::make_unexpected(host.error());
  Socket socket = new_socket();
  sockaddr_in address = as_sockaddr(*host, at.port);
  socklen_t size = sizeof address;
  const int on = 1;
  // Allows the port of a run that has just ended to be reused immediately.
  if (at.port != 0) ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (!socket || ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), 1024) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    const int why = errno;
    const std::string hint =
        why == EADDRNOTAVAIL ? "; this machine has no such address" : remedy_for(why);
    return tl::make_unexpected(Error::run(
        {core::ProblemCode::kSystem},
        fmt::format("cannot listen at {}: {}{}", to_string(at), std::strerror(why), hint)));
  }
  return Listener(std::move(socket), {at.host, ntohs(address.sin_port)});
}

std::optional<Socket> Listener::accept() const {
  Socket accepted(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!accepted) return std::nullopt;
  return accepted;
}

Expected<Socket> begin_connecting(const Address& to) {
  const auto host = resolve(to.host);
  if (!host) return tl::make_unexpected(host.error());
  Socket socket = new_socket();
  const int why = socket ? 0 : errno;
  const sockaddr_in address = as_sockaddr(*host, to.port);
  if (!socket)
    return tl::make_unexpected(Error::run(
        {core::ProblemCode::kSystem},
        fmt::format("no socket is available: {}{}", std::strerror(why), remedy_for(why))));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
      errno != EINPROGRESS) {
    return tl::make_unexpected(
        Error::run({core::ProblemCode::kLost},
                   fmt::format("{} does not answer: {}", to_string(to), std::strerror(errno))));
  }
  return socket;
}

std::optional<std::string> connecting_failed(const Socket& socket) {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error == 0) return std::nullopt;
  return std::strerror(error);
}

std::string own_host(int socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "?";
  return text_of(address);
}

std::string their_host(int socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "?";
  return text_of(address);
}

}  // namespace tutti::real
