#pragma once

#include <memory>
#include <string>
#include <vector>

#include "real/transport/transport.h"
#include "real/transport/waiting.h"

namespace tutti::real {

/// Transport between worker processes of one machine through shared memory. Every worker has an
/// inbox with one ring for each other worker. A sender copies pieces into the ring, and the
/// receiver reduces them directly from the ring, so that bytes pass through the cache once. A
/// waiting worker sleeps on a futex in its own inbox, by which peers wake it.
///
/// The shared memory has no name, and is freed when the processes end. The workers use their TCP
/// connections only to exchange inboxes, and to detect that a peer is gone.
class ShmTransport : public Transport {
 public:
  /// Exchanges inboxes with all peers. Every peer has to call this function too. `sockets[w]` is
  /// the socket connected to worker w; -1 if w is this worker, `worker`. This object owns the
  /// sockets. `worker_of[r]` is the worker of rank r. ERRORS: no memory is left; a peer does not
  /// answer within `deadline`; a peer's memory cannot be accessed, because the peer runs on another
  /// machine or as another user.
  static core::Expected<std::unique_ptr<ShmTransport>> open(std::vector<int> sockets,
                                                            std::int32_t worker,
                                                            std::vector<std::int32_t> worker_of,
                                                            const WaitOptions& options,
                                                            SetupDeadline deadline);
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
