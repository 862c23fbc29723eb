#include "tests/real/mesh.h"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "real/transport/shm.h"
#include "real/transport/tcp.h"

namespace tutti::real {

using core::Rank;

std::pair<int, int> connected() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(listener, 1), 0);
  socklen_t length = sizeof address;
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
  const int one = ::socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_EQ(::connect(one, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const int other = ::accept(listener, nullptr, nullptr);
  ::close(listener);
  return {one, other};
}

/// Encrypts the connections of a worker. Waits for the other workers, which do the same.
static void encrypt(std::vector<Connection>& connections, std::int32_t worker) {
  const auto context = TlsContext::open("secret");
  for (std::size_t peer = 0; peer < connections.size(); ++peer) {
    if (!connections[peer]) continue;
    const int file = connections[peer].release();
    ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) | O_NONBLOCK);
    auto tls = std::make_unique<Tls>(*context, file, peer > static_cast<std::size_t>(worker),
                                     SessionKeys{});
    Tls::Progress progress = tls->handshake();
    for (; progress != Tls::Progress::kDone && progress != Tls::Progress::kFailed;
         progress = tls->handshake()) {
      pollfd entry{file, POLLIN, 0};
      ::poll(&entry, 1, 10);
    }
    EXPECT_EQ(progress, Tls::Progress::kDone) << tls->failure();
    connections[peer] = Connection(Socket(file), SessionKeys{}, std::move(tls));
  }
}

std::vector<Connection> connections_of(const std::vector<int>& sockets) {
  std::vector<Connection> connections;
  for (const int socket : sockets) connections.emplace_back(Socket(socket), SessionKeys{});
  return connections;
}

std::vector<std::vector<int>> mesh(int workers, int streams) {
  const auto each = static_cast<std::size_t>(streams);
  std::vector<std::vector<int>> sockets(
      static_cast<std::size_t>(workers),
      std::vector<int>(static_cast<std::size_t>(workers) * each, -1));
  for (std::size_t a = 0; a < sockets.size(); ++a) {
    for (std::size_t b = a + 1; b < sockets.size(); ++b) {
      for (std::size_t i = 0; i < each; ++i)
        std::tie(sockets[a][b * each + i], sockets[b][a * each + i]) = connected();
    }
  }
  return sockets;
}

std::vector<std::int32_t> workers_of(const core::Collective& collective) {
  std::vector<std::int32_t> workers;
  for (Rank r = 0; r < collective.schedule->ranks(); ++r)
    workers.push_back(collective.group.device(r).worker);
  return workers;
}

int streams_of(const std::string& name) {
  return name.starts_with("tcp ") && name.back() <= '9' ? std::stoi(name.substr(4)) : 1;
}

std::unique_ptr<Transport> transport_named(const std::string& name, std::vector<int> sockets,
                                           std::int32_t worker,
                                           std::vector<std::int32_t> worker_of) {
  if (name.starts_with("tcp")) {
    std::vector<Connection> connections = connections_of(sockets);
    if (name == "tcp tls") encrypt(connections, worker);
    return std::make_unique<TcpTransport>(
        std::move(connections), std::move(worker_of), WaitOptions{}, streams_of(name),
        name == "tcp codes" ? MessageMacs::kOn : MessageMacs::kOff);
  }
  auto opened = ShmTransport::open(std::move(sockets), worker, std::move(worker_of), {},
                                   {Transport::Clock::now() + std::chrono::seconds(60)});
  if (!opened) {
    ADD_FAILURE() << opened.error().message();
    return nullptr;
  }
  return std::move(*opened);
}

}  // namespace tutti::real
