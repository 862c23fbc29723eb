#pragma once

// A gate decides when communication that is ready may start, and which items are fused. For
// example, BytePS starts communication by priority while the bytes in flight stay below a credit,
// and Horovod starts communication in cycles in which all processes agree. A gate is only a policy:
// it has no clock and sends no messages. The executor of a gate, simulated or real, reports events
// with their times and executes the gate's decisions. For gates that work in rounds, the executor
// also runs the agreement between processes. Gates are deterministic: the same requests in the same
// order give the same decisions.
//
// Decisions are return values, not callbacks. An executor therefore receives all decisions that
// result from an event before it starts an item. If decisions were callbacks, an item that
// completes immediately could make the executor call the gate recursively.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/state_visitor.h"
#include "core/base/units.h"

namespace tutti::core {

/// A communication that a gate controls, such as the all-reduce of a pack. An item occurs in every
/// training step. Items are identified by their index in GateItems.
struct GateItem {
  Bytes bytes;
  /// The item with the lowest value starts first.
  std::int64_t priority = 0;
  /// Only items of the same kind may be fused (the kind is the data type, for example).
  int kind = 0;
  /// True if the item is never fused with others.
  bool alone = false;
  /// False if the item bypasses the gate.
  bool passes = true;
};

/// The items of a gate. The gates of all workers share one list.
using GateItems = std::shared_ptr<const std::vector<GateItem>>;

/// An item of one training step, on one replica.
struct GateRequest {
  std::int64_t replica = 0;
  std::int32_t step = 0;
  std::int32_t item = 0;
};

/// Items of one training step that are fused into one communication, in the order of their data in
/// its buffer.
struct GateBatch {
  std::int32_t step = 0;
  std::vector<std::int32_t> items;

  bool operator==(const GateBatch&) const = default;
};

/// The decision that replicas first_replica … first_replica + replicas - 1 start `batch`. Replicas
/// start batches in the order of the decisions, which is the same on all processes. If no replica
/// can start a new batch yet, the decision has `replicas` = 0.
struct GateDecision {
  std::int64_t first_replica = 0;
  std::int64_t replicas = 1;
  std::shared_ptr<const GateBatch> batch;
};

/// The report of a process in a round: one list of numbers, with the same length on all processes.
/// The processes agree on the elementwise minimum of their reports.
struct GateProposal {
  std::int32_t step = 0;
  std::vector<std::int64_t> numbers;
};

/// The set of replicas that one gate controls.
enum class GateScope : std::uint8_t {
  kWorker,  ///< the replicas of one worker; every worker has its own gate, and the gates decide
            ///< independently
  kAll,  ///< all replicas; if there are several processes, each process has a gate, and the gates
         ///< agree in rounds
};

/// A range of replicas that one Gate object controls.
struct GateMembers {
  std::int64_t first_replica = 0;
  std::int64_t replicas = 1;
};

class Gate {
 public:
  virtual ~Gate() = default;

  /// Reports that an item is ready on a replica at `now`. Returns the resulting decisions.
  virtual std::vector<GateDecision> ready(const GateRequest& request, Time now) = 0;
  /// Reports that a batch is complete on a replica. `request.item` may be any item of the batch.
  /// Returns the resulting decisions. REQUIRES: a decision started the batch on this replica.
  virtual std::vector<GateDecision> done(const GateRequest& request) = 0;

  /// Returns the time of the next round. Returns nullopt if no round is required, or if an earlier
  /// call has already returned this time. Must be called after every call of ready() and
  /// end_round(). `now` must not decrease from call to call.
  virtual std::optional<Time> next_round(Time now);
  /// Begins a round. Returns this process's report for the round.
  virtual GateProposal begin_round(Time now);
  /// Ends the round. `agreed` is the agreement that the processes reached at `now`. Returns the
  /// resulting decisions.
  virtual std::vector<GateDecision> end_round(const GateProposal& agreed, Time now);

  /// Visits all state that determines the gate's future decisions. The default implementation marks
  /// the state as not comparable.
  virtual void visit_state(StateVisitor& visitor) { visitor.unfit(); }

 protected:
  Gate() = default;
  Gate(const Gate&) = default;
  Gate& operator=(const Gate&) = default;
};

/// Returns the elementwise minimum of two processes' reports, on which the processes agree.
/// REQUIRES: `a` and `b` have the same step and length.
GateProposal min_of(const GateProposal& a, const GateProposal& b);

}  // namespace tutti::core
