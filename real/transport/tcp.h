#pragma once

#include <memory>
#include <string>
#include <vector>

#include "real/transport/devices.h"
#include "real/transport/transport.h"
#include "real/transport/waiting.h"

namespace tutti::real {

/// Connections between two workers.
inline constexpr int kMostStreams = 64;
/// What each connection reads through.
inline constexpr std::size_t kReadBufferBytes = 64 << 10;

/// Between worker processes over TCP (Boost.Asio), non-blocking, by one connection per pair or more: networks that carry
/// more than one connection gets out of them pay for several. Pieces are received straight
/// to where the receiver wants them; what is sent leaves the sender's memory without a copy of ours.
class TcpTransport : public Transport {
 public:
  /// `sockets[w · streams + i]`: file descriptor of connection i to worker w, connected and shaken hands over; -1 for this
  /// worker itself; owned from now on. Both ends number connections alike. `worker_of[r]` is the worker of rank r,
  /// helpers included. REQUIRES: streams ≥ 1.
  TcpTransport(std::vector<int> sockets, std::vector<std::int32_t> worker_of, const WaitOptions& options,
               int streams = 1);
  ~TcpTransport() override;

  void connect(Receiver& receiver, Devices& devices) override;
  bool send(const Piece& piece, const std::byte* payload, Ticket ticket) override;
  void free_slot(const Channel& channel) override;
  core::Expected<void> poll(Clock::time_point until) override;

  [[nodiscard]] bool flushed() const override;
  [[nodiscard]] std::int64_t piece_bytes() const override;
  [[nodiscard]] bool is_local(core::Rank rank) const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tutti::real
