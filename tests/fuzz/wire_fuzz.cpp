// libFuzzer: any bytes from a peer that is let in. Headers are decoded and handed to a running collective as the TCP
// transport does it; whatever they are, the collective takes them, refuses them or fails, without a crash and in memory
// that the schedule bounds.

#include <cstdint>
#include <span>
#include <vector>

#include "core/algorithm/ring.h"
#include "core/algorithm/shuffle.h"
#include "real/interpreter/interpreter.h"
#include "real/transport/wire.h"
#include "tests/support/clusters.h"

namespace {

using namespace tutti;

class Nobody : public real::InterpreterListener {
  void rank_done(real::CollectiveTag, core::Rank) override {}
  void step_done(const real::StepDone&) override {}
};

/// Takes everything and sends it nowhere; senders get their memory back at once.
class Sink : public real::Transport {
 public:
  bool send(const real::Piece&, const std::byte*, real::Ticket ticket) override {
    tickets.push_back(ticket);
    return false;
  }
  void free_slot(const real::Channel&) override {}
  core::Expected<void> poll(Clock::time_point) override { return {}; }
  void connect(real::Receiver&, real::Devices&) override {}
  [[nodiscard]] bool flushed() const override { return true; }
  [[nodiscard]] bool is_local(core::Rank) const override { return false; }
  std::vector<real::Ticket> tickets;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto cluster = test::plain_cluster(3);
  core::RingOptions options;
  options.credits = 2;
  options.most_elements_per_message = 40;
  const core::Collective ring = test::on_plain_cluster(*cluster, core::ring_all_reduce(3, 300, options), 300);
  const core::Collective shuffle = test::on_plain_cluster(
      *cluster, core::shuffle_all_reduce(3, 3, {0, 1}, 300, core::Engine::kCpu, core::Engine::kCpu), 300);
  Sink sink;
  Nobody nobody;
  real::HostDevices devices;
  real::Interpreter interpreter(sink, devices, nobody, false);
  std::vector<std::byte> first(1200), second(1200);
  interpreter.open({0, 0}, ring, real::Operation::kSum, {0}, {first.data()});
  interpreter.open({0, 1}, shuffle, real::Operation::kSum, {0}, {second.data()});
  interpreter.start({0, 0}, 0);
  interpreter.start({0, 1}, 0);
  std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  while (bytes.size() >= real::kHeaderBytes) {
    interpreter.run_ready();
    for (const real::Ticket ticket : std::exchange(sink.tickets, {})) interpreter.sent(ticket);
    const auto header = real::decode(bytes.first<real::kHeaderBytes>());
    bytes = bytes.subspan(real::kHeaderBytes);
    if (!header) continue;
    if (header->kind == real::Header::Kind::kSlot) {
      static_cast<void>(interpreter.slot_freed(header->piece.channel));
      continue;
    }
    std::byte* const to = interpreter.place(header->piece);
    if (!to) continue;
    const std::size_t length = std::min(bytes.size(), static_cast<std::size_t>(header->piece.length));
    std::copy_n(bytes.begin(), length, to);
    bytes = bytes.subspan(length);
    interpreter.arrived(header->piece);
  }
  interpreter.run_ready();
  return 0;
}
