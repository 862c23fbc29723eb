#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/strategy/collective.h"
#include "real/elements/element_ops.h"
#include "real/transport/devices.h"
#include "real/transport/transport.h"

namespace tutti::real {

/// The work of one of NCCL's channels for a collective, as NCCL reported it.
struct ChannelDone {
  CollectiveTag collective;
  core::Rank rank = 0;
  std::int32_t channel = 0;
  std::int32_t part = 0;  ///< 0, or 1: the broadcast that ends the collective inside a worker
  Transport::Clock::time_point start, end;
};

/// The receiver of a Collectives' events. Called from inside start() and poll() of Collectives and
/// of what it uses.
class CollectiveListener {
 public:
  virtual ~CollectiveListener() = default;
  /// The collective is complete for a rank of this process, whose buffer may be reused.
  virtual void rank_done(CollectiveTag collective, core::Rank rank) = 0;
  /// Called only if channels are followed, mostly after the rank is done.
  virtual void channel_done(const ChannelDone&) {}
};

/// Executes the collectives of a run for the ranks of this process: the interpreter executes their
/// schedules, NCCL its own algorithms. Single-threaded; the caller polls the transport, the devices
/// and this object in turn.
class Collectives : public WorkListener {
 public:
  using Clock = Transport::Clock;

  /// Prepares a collective: peers may send messages for it from now on. `data[i]` is the buffer of
  /// rank `ranks[i]`, a rank of this process; null for helpers without a buffer. Collectives are
  /// opened in the plan's order.
  /// REQUIRES: collective and buffers outlive it.
  virtual void open(CollectiveTag tag, const core::Collective& collective, Operation operation,
                    const std::vector<core::Rank>& ranks, const std::vector<std::byte*>& data) = 0;
  /// The rank takes part in the collective from now on.
  virtual void start(CollectiveTag tag, core::Rank rank) = 0;
  /// REQUIRES: all of the collective's ranks in this process are done.
  virtual void close(CollectiveTag tag) = 0;
  /// Lets peers be ahead, up to this collective: their messages for collectives that are not open
  /// yet wait. Without this call such messages count as invalid.
  virtual void let_peers_be_ahead(CollectiveTag last) { static_cast<void>(last); }

  /// Advances all collectives that can advance. ERRORS: none can advance any more: a peer is gone,
  /// or does not behave as expected.
  virtual core::Expected<void> poll() = 0;
  /// The time by which poll() may have work to do; max() if it waits only for peers.
  [[nodiscard]] virtual Clock::time_point next_due() const = 0;
  /// A counter without unit that increases whenever data moves, to detect progress.
  [[nodiscard]] virtual std::int64_t moved() const = 0;
  /// Describes what the incomplete collectives wait for; for the error of a run without progress.
  [[nodiscard]] virtual std::string where_it_stands() const = 0;
  /// Receives events of completed collectives that are reported late
  /// (CollectiveListener::channel_done()). Takes limited time.
  virtual void drain() {}
  /// The receiver of peers' messages.
  [[nodiscard]] virtual Receiver& receiver() = 0;
  /// Notes for readers of the run's times. More may follow while collectives are executed.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
  /// Notes that are known only at the end of the run.
  [[nodiscard]] virtual std::vector<std::string> final_notes() const { return {}; }
};

}  // namespace tutti::real
