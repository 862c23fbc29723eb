#pragma once

#include <deque>

#include "real/transport/devices.h"
#include "real/transport/transport.h"

namespace tutti::real {

/// Transport between ranks of one process by copies in memory, including memory of devices. The
/// function poll() executes the copies, so that no callback runs inside the caller's send().
class LocalTransport : public Transport {
 public:
  void connect(Receiver& receiver, Devices& devices) override {
    receiver_ = &receiver;
    devices_ = &devices;
  }

  bool send(const Piece& piece, const std::byte* payload, Ticket ticket) override;
  void free_slot(const Channel& channel) override;
  core::Expected<void> poll(Clock::time_point until) override;

  [[nodiscard]] bool flushed() const override { return sends_.empty() && slots_.empty(); }
  [[nodiscard]] bool is_local(core::Rank) const override { return true; }

 private:
  struct Send {
    Piece piece;
    const std::byte* payload = nullptr;
    Ticket ticket = 0;
  };
  Receiver* receiver_ = nullptr;
  Devices* devices_ = nullptr;
  std::deque<Send> sends_;
  std::deque<Channel> slots_;
};

}  // namespace tutti::real
