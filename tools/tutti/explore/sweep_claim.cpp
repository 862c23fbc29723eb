#include "tools/tutti/explore/sweep_claim.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace tutti::tools {
namespace {

/// Returns the process that listens at the address, if it belongs to this user, to `owner` or to
/// root; otherwise 0. Returns SweepClaim::kUnknown if the queue of the listener is full, because
/// the listener's process can then not be determined, and two processes must not execute the same
/// sweep.
pid_t holder(const sockaddr_un& address, socklen_t size, uid_t owner) {
  const real::Socket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return 0;
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0)
    return errno == EAGAIN ? SweepClaim::kUnknown : 0;
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return 0;
  const bool counts = peer.uid == ::geteuid() || peer.uid == owner || peer.uid == 0;
  return counts ? peer.pid : 0;
}

}  // namespace

SweepClaim::SweepClaim(const std::string& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // A name that begins with a zero byte is not a path, but belongs to Linux's abstract namespace.
  const std::string name = fmt::format("tutti sweep {:x} {:x}", status.st_dev, status.st_ino);
  std::copy(name.begin(), name.end(), address.sun_path + 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  socket_ = real::Socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket_) return;
  if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0)
    static_cast<void>(::listen(socket_.get(), SOMAXCONN));
  else if (errno == EADDRINUSE)
    held_by_ = holder(address, size, status.st_uid);
}

}  // namespace tutti::tools
