#include "tests/real/mesh.h"

#include <gtest/gtest.h>

#include <arpa/inet.h>
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
  return name.starts_with("tcp ") ? std::stoi(name.substr(4)) : 1;
}

std::unique_ptr<Transport> transport_named(const std::string& name, std::vector<int> sockets,
                                           std::int32_t worker,
                                           std::vector<std::int32_t> worker_of) {
  if (name.starts_with("tcp"))
    return std::make_unique<TcpTransport>(std::move(sockets), std::move(worker_of), WaitOptions{},
                                          streams_of(name));
  auto opened = ShmTransport::open(std::move(sockets), worker, std::move(worker_of), {},
                                   {Transport::Clock::now() + std::chrono::seconds(60)});
  if (!opened) {
    ADD_FAILURE() << opened.error().message();
    return nullptr;
  }
  return std::move(*opened);
}

}  // namespace tutti::real
