#pragma once

#include <memory>
#include <string>
#include <vector>

#include "real/join/connection.h"
#include "real/transport/devices.h"
#include "real/transport/transport.h"
#include "real/transport/waiting.h"

namespace tutti::real {

/// The maximum number of connections between two workers.
inline constexpr int kMaxStreams = 64;
/// The size of each connection's read buffer in bytes.
inline constexpr std::size_t kReadBufferBytes = 64 << 10;

/// Selects whether every message between workers has an authentication code
/// (real/wire/frame_mac.h), which follows the payload.
enum class MessageMacs : bool { kOff, kOn };

/// Transport between worker processes over TCP with non-blocking I/O (Boost.Asio). Each pair of
/// workers has one or more connections. Several connections are faster on networks that one
/// connection cannot saturate. Without TLS, pieces are received directly into their destination,
/// and sent without a copy in user space.
class TcpTransport : public Transport {
 public:
  /// `connections[w · streams + i]`: connection i to worker w; empty if w is this worker. A
  /// connection has the same number i at both ends. `worker_of[r]`: the worker of rank r; r may
  /// also be the rank of a server or host. REQUIRES: streams ≥ 1.
  TcpTransport(std::vector<Connection> connections, std::vector<std::int32_t> worker_of,
               const WaitOptions& options, int streams = 1, MessageMacs macs = MessageMacs::kOff);
  ~TcpTransport() override;

  void connect(Receiver& receiver, Devices& devices) override;
  bool send(const Piece& piece, const std::byte* payload, Ticket ticket) override;
  void free_slot(const Channel& channel) override;
  core::Expected<void> poll(Clock::time_point until) override;

  [[nodiscard]] bool flushed() const override;
  [[nodiscard]] std::int64_t carried() const override;
  [[nodiscard]] std::int64_t piece_bytes() const override;
  [[nodiscard]] bool is_local(core::Rank rank) const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tutti::real
