#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/strategy/collective.h"
#include "real/elements/element_ops.h"
#include "real/transport/devices.h"
#include "real/transport/transport.h"

namespace tutti::real {

/// The time span in which one NCCL channel worked on a collective, as reported by NCCL's profiler.
struct ChannelDone {
  CollectiveTag collective;
  core::Rank rank = 0;
  std::int32_t channel = 0;
  /// 1 if the operation is the last part of a two-level all-reduce, that is, the broadcast inside a
  /// worker; 0 for any other operation.
  std::int32_t part = 0;
  Transport::Clock::time_point start, end;
};

/// Interface that receives the events of a Collectives object. The object, its transport and its
/// devices call these functions from inside start() and poll().
class CollectiveListener {
 public:
  virtual ~CollectiveListener() = default;
  /// Called when a rank of this process has completed the collective. The rank's buffer may then be
  /// reused.
  virtual void rank_done(CollectiveTag collective, core::Rank rank) = 0;
  /// Called when an NCCL channel is complete, if NCCL's channels are recorded. Most calls come
  /// after rank_done().
  virtual void channel_done(const ChannelDone&) {}
};

/// Interface that executes the collectives of a run for the ranks of this process. Interpreter
/// executes schedules, NcclCollectives uses NCCL. A single thread polls the transport, the devices
/// and this object in turn.
class Collectives : public WorkListener {
 public:
  using Clock = Transport::Clock;

  /// Prepares a collective, so that peers may send messages for it. `data[i]` is the buffer of rank
  /// `ranks[i]` of this process; null for a rank without a buffer, such as a CPU that only forwards
  /// data. The caller opens collectives in the order of the plan.
  /// REQUIRES: collective and buffers stay valid until close().
  virtual void open(CollectiveTag tag, const core::Collective& collective, Operation operation,
                    const std::vector<core::Rank>& ranks, const std::vector<std::byte*>& data) = 0;
  /// Starts the rank's part of the collective.
  virtual void start(CollectiveTag tag, core::Rank rank) = 0;
  /// Frees a collective. REQUIRES: all ranks of the collective in this process have completed it.
  virtual void close(CollectiveTag tag) = 0;
  /// Allows peers to send messages for collectives that this process has not opened yet, up to and
  /// including collective `last`. Messages for unopened collectives then wait in the transport.
  /// Without this call, messages for unopened collectives are errors.
  virtual void allow_early_messages(CollectiveTag last) { static_cast<void>(last); }

  /// Advances all collectives that can advance. ERRORS: collectives cannot advance, because a peer
  /// is gone or violates the protocol.
  virtual core::Expected<void> poll() = 0;
  /// Returns the time at which poll() may have work to do; max() if poll() has work only after a
  /// message from a peer.
  [[nodiscard]] virtual Clock::time_point next_due() const = 0;
  /// Returns a counter that increases whenever data moves, so that the caller can detect progress.
  /// The counter has no unit.
  [[nodiscard]] virtual std::int64_t moved() const = 0;
  /// Returns a text that describes what the incomplete collectives wait for. The text is part of
  /// the error message of a run that makes no progress.
  [[nodiscard]] virtual std::string progress_text() const = 0;
  /// Waits, for a limited time, until channel_done() has been called for all channels of completed
  /// collectives.
  virtual void drain() {}
  /// Returns the object that receives peers' messages.
  [[nodiscard]] virtual Receiver& receiver() = 0;
  /// Returns notes on the measured times for the report. More notes may be added while collectives
  /// are executed.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
  /// Returns notes that are known only at the end of the run.
  [[nodiscard]] virtual std::vector<std::string> final_notes() const { return {}; }
};

}  // namespace tutti::real
