#include "real/join/connection.h"

#include <sys/socket.h>

#include <utility>

#include "core/base/check.h"

namespace tutti::real {

Connection& Connection::operator=(Connection&& other) noexcept {
  tls_ = std::move(other.tls_);
  socket_ = std::move(other.socket_);
  keys_ = other.keys_;
  return *this;
}

ssize_t Connection::send(const void* bytes, std::size_t size) {
  return tls_ ? tls_->write(bytes, size) : ::send(file(), bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

ssize_t Connection::receive(void* bytes, std::size_t size) {
  return tls_ ? tls_->read(bytes, size) : ::recv(file(), bytes, size, MSG_DONTWAIT);
}

void Connection::end_sending() {
  if (tls_) tls_->end_sending();
  ::shutdown(file(), SHUT_WR);
}

int Connection::release() {
  TUTTI_CHECK(!tls_, "a socket under TLS cannot be used alone");
  return socket_.release();
}

}  // namespace tutti::real
