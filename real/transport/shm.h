#pragma once

#include <memory>
#include <string>
#include <vector>

#include "real/transport/transport.h"
#include "real/transport/waiting.h"

namespace tutti::real {

/// Between worker processes of one machine through memory that they share: every worker has an inbox with a ring for
/// each of the others. A sender copies pieces into the ring, the receiver reduces them straight out of it, so that bytes
/// go once through the cache. Who waits sleeps on a futex in its own inbox, which peers ring when it sleeps.
///
/// The memory has no name and goes with its processes. The TCP connections of the workers serve to exchange it, and tell
/// when a peer is gone.
class ShmTransport : public Transport {
 public:
  /// Exchanges inboxes with all peers, who do the same. `sockets` and `worker_of` as for TcpTransport, and owned by this;
  /// `worker` is this one.
  /// ERRORS: no memory; a peer does not do so while there is patience; a peer's memory cannot be reached (it is on another machine, or of another user).
  static core::Expected<std::unique_ptr<ShmTransport>> open(std::vector<int> sockets, std::int32_t worker,
                                                            std::vector<std::int32_t> worker_of,
                                                            const WaitOptions& options, Patience patience);
  ~ShmTransport() override;

  void connect(Receiver& receiver, Devices& devices) override;
  bool send(const Piece& piece, const std::byte* payload, Ticket ticket) override;
  std::byte* reserve(const Piece& piece) override;
  void publish(const Piece& piece) override;
  void free_slot(const Channel& channel) override;
  core::Expected<void> poll(Clock::time_point until) override;

  [[nodiscard]] bool flushed() const override;
  [[nodiscard]] bool is_local(core::Rank rank) const override;
  [[nodiscard]] std::int64_t piece_bytes() const override;

 private:
  struct State;
  explicit ShmTransport(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tutti::real
