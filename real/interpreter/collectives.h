#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/strategy/collective.h"
#include "real/elements/element_ops.h"
#include "real/transport/devices.h"
#include "real/transport/transport.h"

namespace tutti::real {

/// What one of NCCL's channels did of a collective, as far as it was told.
struct ChannelDone {
  CollectiveTag collective;
  core::Rank rank = 0;
  std::int32_t channel = 0;
  std::int32_t part = 0;  ///< 0; 1: of the broadcast that ends it inside a worker
  Transport::Clock::time_point start, end;
};

/// Whoever wants to know how collectives go. Called from inside start() and poll(), of Collectives and of what it uses.
class CollectiveListener {
 public:
  virtual ~CollectiveListener() = default;
  /// The collective is over for a rank of this process, and its memory is its own again.
  virtual void rank_done(CollectiveTag collective, core::Rank rank) = 0;
  /// Only where channels are followed; mostly after the rank is done.
  virtual void channel_done(const ChannelDone&) {}
};

/// Carries out the collectives of a run for the ranks of this process: the interpreter by their schedules, NCCL by its
/// own. One thread; whoever runs it calls poll() of transport, devices and this in turn.
class Collectives : public WorkListener {
 public:
  using Clock = Transport::Clock;

  /// Gets ready for a collective: peers may send for it from now on. `data[i]` is the buffer of rank `ranks[i]`, which is of
  /// this process; null for helpers that have none of their own. Collectives are opened in the plan's order.
  /// REQUIRES: collective and buffers outlive it.
  virtual void open(CollectiveTag tag, const core::Collective& collective, Operation operation,
                    const std::vector<core::Rank>& ranks, const std::vector<std::byte*>& data) = 0;
  /// The rank takes part from now on.
  virtual void start(CollectiveTag tag, core::Rank rank) = 0;
  /// REQUIRES: all its ranks here are done.
  virtual void close(CollectiveTag tag) = 0;
  /// Peers may be ahead, up to this collective: what they send for one that is yet to be opened has to wait. Without this it is
  /// taken for something that is not of the run.
  virtual void let_peers_be_ahead(CollectiveTag last) { static_cast<void>(last); }

  /// Goes on with what can go on. ERRORS: nothing here can: a peer is gone, or not what it should be.
  virtual core::Expected<void> poll() = 0;
  /// poll() may have something to do by then; max() if it waits for what others tell.
  [[nodiscard]] virtual Clock::time_point next_due() const = 0;
  /// Counts what moves, in no unit: to see that something does.
  [[nodiscard]] virtual std::int64_t moved() const = 0;
  /// What those that are not through wait for, in words: for the error when a run does not get on.
  [[nodiscard]] virtual std::string where_it_stands() const = 0;
  /// Hears what is told late of collectives that are done: see CollectiveListener::channel_done(). Takes some time at most.
  virtual void hear_the_rest() {}
  /// Who messages of peers are for.
  [[nodiscard]] virtual Receiver& receiver() = 0;
  /// What whoever reads the run's times should know. More may come up as collectives are carried out,
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
  /// and this is known when none is to come any more.
  [[nodiscard]] virtual std::vector<std::string> last_words() const { return {}; }
};

}  // namespace tutti::real
