// libFuzzer target: receives any bytes from an admitted peer, over each path by which data arrives.
// The collective must accept them, reject them or fail, without a crash, in memory that is bounded
// by the schedule, and without waiting forever. The first byte selects the path:
//
//     0  headers and payloads, written to the place that the interpreter returns
//     1  the same, passed as a complete buffer
//     2  a socket of the TCP transport
//     3  the emulated network, with its own clock

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <span>
#include <vector>

#include "core/algorithm/ring.h"
#include "core/algorithm/shuffle.h"
#include "core/base/check.h"
#include "real/emulate/devices.h"
#include "real/emulate/network.h"
#include "real/interpreter/interpreter.h"
#include "real/transport/tcp.h"
#include "real/transport/wire.h"
#include "tests/support/clusters.h"

namespace {

using namespace tutti;
using Bytes = std::span<const std::byte>;
using Clock = real::Timers::Clock;

class Nobody : public real::InterpreterListener {
  void rank_done(real::CollectiveTag, core::Rank) override {}
  void step_done(const real::StepDone&) override {}
};

/// A transport that accepts everything and sends nothing. Senders get their buffers back at the
/// next poll. Rank 0 is local.
class Sink : public real::Transport {
 public:
  bool send(const real::Piece&, const std::byte*, real::Ticket ticket) override {
    tickets_.push_back(ticket);
    return false;
  }
  void free_slot(const real::Channel&) override {}
  core::Expected<void> poll(Clock::time_point) override {
    for (const real::Ticket ticket : std::exchange(tickets_, {})) receiver_->sent(ticket);
    return {};
  }
  void connect(real::Receiver& receiver, real::Devices&) override { receiver_ = &receiver; }
  [[nodiscard]] bool flushed() const override { return tickets_.empty(); }
  [[nodiscard]] bool is_local(core::Rank rank) const override { return rank == 0; }
  [[nodiscard]] real::Receiver& receiver() { return *receiver_; }

 private:
  real::Receiver* receiver_ = nullptr;
  std::vector<real::Ticket> tickets_;
};

/// Returns a plan with a ring with slots, and a shuffle whose lanes accept messages in order of
/// arrival.
const core::Plan& plan() {
  static const auto cluster = test::plain_cluster(3);
  static const core::Plan made = [] {
    core::RingOptions options;
    options.credits = 2;
    options.max_elements_per_message = 40;
    core::Plan plan;
    plan.packs.push_back(plan.pack_of(
        {}, test::on_plain_cluster(*cluster, core::ring_all_reduce(3, 300, options), 300)));
    plan.packs.push_back(plan.pack_of(
        {}, test::on_plain_cluster(
                *cluster,
                core::shuffle_all_reduce(3, 3, {0, 1}, 300, core::Engine::kCpu, core::Engine::kCpu),
                300)));
    return plan;
  }();
  return made;
}

/// Rank 0 of both collectives, after their start.
struct Target {
  Target(real::Transport& transport, real::Devices& devices)
      : interpreter(transport, devices, nobody, false) {
    transport.connect(interpreter, devices);
    for (std::uint32_t p = 0; p < 2; ++p)
      interpreter.open({0, p}, plan().collective(plan().packs[p]), real::Operation::kSum, {0},
                       {data[p].data()});
    for (std::uint32_t p = 0; p < 2; ++p) interpreter.start({0, p}, 0);
    interpreter.run_ready();
  }
  std::array<std::vector<std::byte>, 2> data{std::vector<std::byte>(1200),
                                             std::vector<std::byte>(1200)};
  Nobody nobody;
  real::Interpreter interpreter;
};

/// Passes the messages one by one, as a transport does. Calls `go_on` after each, and stops when it
/// returns false.
void feed(Bytes bytes, real::Receiver& receiver, bool whole, const std::function<bool()>& go_on) {
  while (bytes.size() >= real::kHeaderBytes) {
    const auto header = real::decode(bytes.first<real::kHeaderBytes>());
    bytes = bytes.subspan(real::kHeaderBytes);
    if (!header) continue;
    if (header->kind == real::Header::Kind::kSlot) {
      static_cast<void>(receiver.slot_freed(header->piece.channel));
    } else {
      const std::size_t length =
          std::min(bytes.size(), static_cast<std::size_t>(header->piece.length));
      if (whole) {
        // The buffer has exactly this size, so that a sanitizer detects reads beyond it.
        std::vector<std::byte> payload(static_cast<std::size_t>(header->piece.length));
        std::copy_n(bytes.begin(), length, payload.begin());
        if (!receiver.take(header->piece, payload.data())) continue;
      } else {
        std::byte* const to = receiver.place(header->piece);
        if (!to) continue;
        std::copy_n(bytes.begin(), length, to);
        receiver.arrived(header->piece);
      }
      bytes = bytes.subspan(length);
    }
    if (!go_on()) return;
  }
}

void into_the_interpreter(Bytes bytes, bool whole) {
  Sink sink;
  real::HostDevices devices;
  Target target(sink, devices);
  feed(bytes, target.interpreter, whole, [&] {
    target.interpreter.run_ready();
    static_cast<void>(sink.poll({}));
    return true;
  });
  static_cast<void>(target.interpreter.progress_text());
}

/// Sends the bytes as worker 1, with ranks 1 and 2, in portions of 16 bytes to 4 KiB according to
/// the first byte. Then closes the connection.
void into_a_socket(Bytes bytes) {
  if (bytes.empty()) return;
  const std::size_t portion = 16 * (1 + static_cast<std::size_t>(bytes[0]));
  bytes = bytes.subspan(1);
  int ends[2];
  TUTTI_CHECK(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "no sockets");
  {
    std::vector<real::Connection> connections(1);
    connections.emplace_back(real::Socket(ends[0]), real::SessionKeys{});
    real::TcpTransport transport(std::move(connections), {0, 1, 1}, {std::chrono::microseconds(0)});
    real::HostDevices devices;
    Target target(transport, devices);
    bool on = true;
    const auto go_on = [&] {
      on = on && transport.poll({}) && target.interpreter.poll();
      std::array<std::byte, 4096> sink;
      while (::recv(ends[1], sink.data(), sink.size(), MSG_DONTWAIT) > 0) {
      }
    };
    while (on && !bytes.empty()) {
      const Bytes part = bytes.first(std::min(portion, bytes.size()));
      TUTTI_CHECK(::send(ends[1], part.data(), part.size(), MSG_NOSIGNAL) ==
                      static_cast<ssize_t>(part.size()),
                  "the socket takes no {} bytes", part.size());
      bytes = bytes.subspan(part.size());
      go_on();
    }
    ::shutdown(ends[1], SHUT_WR);
    for (int i = 0; on && i < 100; ++i) go_on();
    TUTTI_CHECK(!on, "a peer that is gone is not noticed");
  }
  ::close(ends[1]);
}

void into_the_emulated_network(Bytes bytes) {
  /// Sending everything, with the latency of every link, takes far less.
  constexpr std::chrono::minutes kLong{1};
  Clock::time_point clock{};
  real::Timers timers(std::chrono::hours(24), [&clock] { return clock; });
  Sink sink;
  const real::TimeScale scale{50};
  real::EmulatedDevices devices(plan().collective(plan().packs.front()).group, scale, timers);
  real::EmulatedNetwork network(plan(), sink, scale, timers);
  Target target(network, devices);
  bool on = true;
  const auto once = [&] {
    static_cast<void>(devices.poll(target.interpreter));
    on = on && target.interpreter.poll() && network.poll({});
  };
  const auto pass_time = [&] {
    TUTTI_CHECK(timers.next() < clock + kLong, "waits for {} ns",
                timers.next().time_since_epoch().count());
    clock = std::max(clock, timers.next());
    timers.run_due(once);
  };
  feed(bytes, sink.receiver(), false, [&] {
    once();
    if (on && timers.next() != Clock::time_point::max()) pass_time();
    return on;
  });
  while (on && timers.next() != Clock::time_point::max()) pass_time();
  static_cast<void>(target.interpreter.progress_text());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Bytes rest(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0: into_the_interpreter(rest, false); break;
    case 1: into_the_interpreter(rest, true); break;
    case 2: into_a_socket(rest); break;
    default: into_the_emulated_network(rest); break;
  }
  return 0;
}
