#pragma once

// A gate decides when communication that is ready may start, and which items are fused. Examples
// are an order of priorities within a credit (BytePS), and cycles on which all processes agree
// (Horovod). A gate is only a policy: it has no clock and sends no messages. The executor of a
// gate, simulated or real, reports events with their times and executes the gate's decisions. For
// gates that work in rounds, the executor also runs the agreement between processes. The same
// requests in the same order give the same decisions.
//
// Decisions are return values, not callbacks. An executor therefore first receives all decisions
// that result from an event, and then starts the items. An item that the executor starts may
// complete immediately, and its completion may be reported recursively.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/state_visitor.h"
#include "core/base/units.h"

namespace tutti::core {

/// The description of a communication for a gate. The communication occurs in every training step.
/// Items are identified by their index in GateItems.
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

/// The items of a gate; gates of several workers share them.
using GateItems = std::shared_ptr<const std::vector<GateItem>>;

/// An item of one step, on one replica.
struct GateRequest {
  std::int64_t replica = 0;
  std::int32_t step = 0;
  std::int32_t item = 0;
};

/// Items of one step that are fused, in the order of their data in the buffer.
struct GateBatch {
  std::int32_t step = 0;
  std::vector<std::int32_t> items;

  bool operator==(const GateBatch&) const = default;
};

/// The decision that replicas first_replica … first_replica + replicas - 1 start `batch`. Replicas
/// start batches in the order of the decisions, which is the same on all processes. The call that
/// makes a batch always returns the batch, even if no replica can start it yet (`replicas` is then
/// 0).
struct GateDecision {
  std::int64_t first_replica = 0;
  std::int64_t replicas = 1;
  std::shared_ptr<const GateBatch> batch;
};

/// The report of a process in a round. The reports of all processes have the same number of
/// entries. Each entry of the agreement is the minimum of this entry over the processes.
struct GateProposal {
  std::int32_t step = 0;
  std::vector<std::int64_t> numbers;
};

/// The set of replicas whose items are under the control of one gate.
enum class GateScope : std::uint8_t {
  kWorker,  ///< the replicas of one worker; every worker has its own gate, which decides
            ///< independently
  kAll,  ///< all replicas; if there are several processes, each process has a gate, and the gates
         ///< agree in rounds
};

/// The replicas that a gate serves.
struct GateMembers {
  std::int64_t first_replica = 0;
  std::int64_t replicas = 1;
};

class Gate {
 public:
  virtual ~Gate() = default;

  /// Reports that an item is ready on a replica at `now`. Returns the resulting decisions.
  virtual std::vector<GateDecision> ready(const GateRequest& request, Time now) = 0;
  /// Reports that a batch is complete on a replica; `request.item` is any item of the batch.
  /// Returns the resulting decisions. REQUIRES: a decision started the batch on this replica.
  virtual std::vector<GateDecision> done(const GateRequest& request) = 0;

  /// Returns the time of the next round; nullopt if no round is required, or its time was returned
  /// by an earlier call. Must be called after every call of ready() and end_round(). `now` must not
  /// decrease from call to call.
  virtual std::optional<Time> next_round(Time now);
  /// Begins a round. Returns the report of this gate's replicas.
  virtual GateProposal begin_round(Time now);
  /// Ends the round with the agreement that the processes reached at `now`. Returns the resulting
  /// decisions.
  virtual std::vector<GateDecision> end_round(const GateProposal& agreed, Time now);

  /// Visits all state that determines the gate's future decisions. The default implementation is
  /// for gates whose state cannot be compared.
  virtual void visit_state(StateVisitor& visitor) { visitor.unfit(); }

 protected:
  Gate() = default;
  Gate(const Gate&) = default;
  Gate& operator=(const Gate&) = default;
};

/// Returns the agreement between processes that report `a` and `b`. REQUIRES: `a` and `b` have the
/// same step and length.
GateProposal min_of(const GateProposal& a, const GateProposal& b);

}  // namespace tutti::core
