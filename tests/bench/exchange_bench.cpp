// Measures whether more threads move a worker's bytes faster. Two processes on loopback send each
// other 64 MiB at the same time, as two ranks of an all-reduce do. Each process has either one
// thread that alternates between sending and receiving, as TcpTransport does, or two or four
// threads, of which half send and half receive. ExchangeOneWay measures one direction alone: one
// thread sends while another core receives. If there are more cores than threads, this is the
// maximum rate of one thread.
//
//   tools/bench.sh --benchmark_filter=Exchange

#include <benchmark/benchmark.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/check.h"

namespace tutti {
namespace {

constexpr std::size_t kBytes = 64 << 20;
constexpr std::size_t kPiece = 512 << 10;

/// Returns both ends of a TCP connection over loopback.
std::array<int, 2> connection() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  TUTTI_CHECK(::bind(listener, any, length) == 0 && ::listen(listener, 1) == 0, "no listener");
  ::getsockname(listener, any, &length);
  std::array<int, 2> ends{::socket(AF_INET, SOCK_STREAM, 0), -1};
  TUTTI_CHECK(::connect(ends[0], any, length) == 0, "no connection");
  ends[1] = ::accept(listener, nullptr, nullptr);
  ::close(listener);
  for (const int end : ends) {
    const int on = 1;
    ::setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(end, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5);
  }
  return ends;
}

/// Moves some bytes without blocking, and adds their number to `done`. Returns false if the peer
/// has closed the connection.
bool move_some(bool out, int socket, std::byte* at, std::size_t& done, std::size_t all, int flags) {
  const std::size_t length = std::min(kPiece, all - done);
  const ssize_t moved = out ? ::send(socket, at + done, length, flags | MSG_NOSIGNAL)
                            : ::recv(socket, at + done, length, flags);
  if (moved > 0) done += static_cast<std::size_t>(moved);
  return moved > 0 || (moved < 0 && (errno == EAGAIN || errno == EINTR));
}

bool one_way(bool out, int socket, std::byte* at, std::size_t all) {
  for (std::size_t done = 0; done < all;) {
    if (!move_some(out, socket, at, done, all, 0)) return false;
  }
  return true;
}

/// Sends and receives all bytes in the calling thread, in turns. Returns false if the peer is gone.
bool in_turns(int socket, std::byte* from, std::byte* to, std::size_t all) {
  for (std::size_t sent = 0, received = 0; sent < all || received < all;) {
    const std::size_t before = sent + received;
    if (sent < all && !move_some(true, socket, from, sent, all, MSG_DONTWAIT)) return false;
    if (received < all && !move_some(false, socket, to, received, all, MSG_DONTWAIT)) return false;
    if (sent + received > before) continue;
    pollfd file{socket, static_cast<short>(POLLIN | (sent < all ? POLLOUT : 0)), 0};
    ::poll(&file, 1, -1);
  }
  return true;
}

/// Runs one side of an exchange, either with one thread, or with a sending and a receiving thread
/// per connection.
bool exchange(const std::vector<int>& sockets, bool one_thread, std::vector<std::byte>& from,
              std::vector<std::byte>& to) {
  if (one_thread) return in_turns(sockets.front(), from.data(), to.data(), kBytes);
  const std::size_t part = kBytes / sockets.size();
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    threads.emplace_back([&, i] { one_way(true, sockets[i], from.data() + i * part, part); });
    if (i > 0)
      threads.emplace_back([&, i] { one_way(false, sockets[i], to.data() + i * part, part); });
  }
  const bool received = one_way(false, sockets.front(), to.data(), part);
  for (std::thread& thread : threads) thread.join();
  return received;
}

/// Runs `other_side` repeatedly in a second process, and measures the time of `this_side` in this
/// process.
template <class Side>
void between_two_processes(benchmark::State& state, std::size_t connections, Side other_side,
                           Side this_side) {
  std::vector<int> here, there;
  for (std::size_t i = 0; i < connections; ++i) {
    const auto ends = connection();
    here.push_back(ends[0]);
    there.push_back(ends[1]);
  }
  std::vector<std::byte> from(kBytes, std::byte{1}), to(kBytes, std::byte{2});
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int socket : here) ::close(socket);
    while (other_side(there, from, to)) {
    }
    ::_exit(0);
  }
  for (const int socket : there) ::close(socket);
  for (auto _ : state) TUTTI_CHECK(this_side(here, from, to), "the other process is gone");
  for (const int socket : here) ::close(socket);
  ::waitpid(child, nullptr, 0);
}

/// Sends bytes in both directions. Argument: the number of threads of each process.
void Exchange(benchmark::State& state) {
  const bool one_thread = state.range(0) == 1;
  const auto side = [one_thread](const std::vector<int>& sockets, std::vector<std::byte>& from,
                                 std::vector<std::byte>& to) {
    return exchange(sockets, one_thread, from, to);
  };
  between_two_processes(state, one_thread ? 1 : static_cast<std::size_t>(state.range(0)) / 2, side,
                        side);
  state.SetBytesProcessed(state.iterations() * 2 * static_cast<std::int64_t>(kBytes));
}
BENCHMARK(Exchange)->Arg(1)->Arg(2)->Arg(4)->UseRealTime()->Unit(benchmark::kMillisecond);

/// One thread sends to one thread of another process.
void ExchangeOneWay(benchmark::State& state) {
  using Side = bool (*)(const std::vector<int>&, std::vector<std::byte>&, std::vector<std::byte>&);
  const Side receive = [](const std::vector<int>& sockets, std::vector<std::byte>&,
                          std::vector<std::byte>& to) {
    std::byte word{};
    return one_way(false, sockets[0], to.data(), kBytes) && one_way(true, sockets[0], &word, 1);
  };
  const Side send = [](const std::vector<int>& sockets, std::vector<std::byte>& from,
                       std::vector<std::byte>&) {
    std::byte word{};
    return one_way(true, sockets[0], from.data(), kBytes) && one_way(false, sockets[0], &word, 1);
  };
  between_two_processes(state, 1, receive, send);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kBytes));
}
BENCHMARK(ExchangeOneWay)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tutti
