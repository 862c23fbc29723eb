#pragma once

// A gate decides when communication that is ready may start, and which items are fused: in the
// order of priorities within a credit (BytePS), in cycles on which all processes agree (Horovod),
// one after the other, or after a barrier. It is only a policy: it has no clock and sends no
// messages. Its executor, simulated or real, reports events with their times, executes its
// decisions and, for gates that work in rounds, runs the agreement between processes. The same
// requests in the same order give the same decisions.
//
// Decisions are return values, not callbacks: an executor first receives all consequences of an
// event, and then starts them. A task that it starts may complete at once and be reported
// recursively.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/state_visitor.h"
#include "core/base/units.h"

namespace tutti::core {

/// A communication in every training step, as a gate sees it. It is identified by its index among
/// the items of the gate.
struct GateItem {
  Bytes bytes;
  /// The item with the lowest value goes first.
  std::int64_t priority = 0;
  /// Only items of the same kind may be fused (the kind is the data type, for example).
  int kind = 0;
  /// True if it is never fused with others.
  bool alone = false;
  /// False if it bypasses the gate.
  bool passes = true;
};

/// The items of a gate; gates of several workers share them.
using GateItems = std::shared_ptr<const std::vector<GateItem>>;

/// An item of one step, on one replica.
struct GateRequest {
  std::int64_t replica = 0;
  std::int32_t step = 0;
  std::int32_t item = 0;
};

/// Items of a step that are fused, in the order of their data in the buffer.
struct GateBatch {
  std::int32_t step = 0;
  std::vector<std::int32_t> items;

  bool operator==(const GateBatch&) const = default;
};

/// Replicas first_replica … first_replica + replicas - 1 start `batch`, in the order of the
/// decisions. Every batch is returned by the call that decided it, even if no replica starts it
/// yet; batches have the same order on all processes.
struct GateDecision {
  std::int64_t first_replica = 0;
  std::int64_t replicas = 1;
  std::shared_ptr<const GateBatch> batch;
};

/// A process's report in a round. All processes of a round report equally many numbers; they agree
/// on the minimum of each.
struct GateProposal {
  std::int32_t step = 0;
  std::vector<std::int64_t> numbers;
};

/// The replicas that one gate object serves in a run.
enum class GateScope : std::uint8_t {
  kWorker,  ///< the tasks of one worker; every worker has its own gate, which decides independently
  kAll,     ///< all; if each process has some of them, the gates of the processes agree in rounds
};

/// The replicas that a gate serves.
struct GateMembers {
  std::int64_t first_replica = 0;
  std::int64_t replicas = 1;
};

class Gate {
 public:
  virtual ~Gate() = default;

  /// Reports that an item is ready on a replica at `now`. Returns what starts as a result.
  virtual std::vector<GateDecision> ready(const GateRequest& request, Time now) = 0;
  /// Reports that a batch is complete on a replica; `request.item` is any of its items. Returns
  /// what starts as a result. REQUIRES: a decision started it there.
  virtual std::vector<GateDecision> done(const GateRequest& request) = 0;

  /// Returns the time of the next round if the latest events require one and its time was not
  /// returned before. Call it after every call of ready() and end_round(). `now` never decreases
  /// over calls.
  virtual std::optional<Time> next_round(Time now);
  /// Begins the round. Returns the report of these replicas.
  virtual GateProposal begin_round(Time now);
  /// Ends the round: the processes agreed at `now`. Returns what starts.
  virtual std::vector<GateDecision> end_round(const GateProposal& agreed, Time now);

  /// Visits all state that determines what happens next. The state of a gate without an override
  /// cannot be remembered.
  virtual void visit_state(StateVisitor& visitor) { visitor.unfit(); }

 protected:
  Gate() = default;
  Gate(const Gate&) = default;
  Gate& operator=(const Gate&) = default;
};

/// Returns the agreement between processes that report `a` and `b`. REQUIRES: same step and length.
GateProposal min_of(const GateProposal& a, const GateProposal& b);

}  // namespace tutti::core
