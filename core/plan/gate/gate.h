#pragma once

// A gate decides when communication that is ready may start, and what travels together: in the order of priorities within a
// credit (BytePS), in cycles on which all processes agree (Horovod), one after the other, or behind a barrier. It is a policy
// alone: it has no clock and sends no messages. Its executor, virtual or real, tells it what happened and when, carries out its
// decisions, and, for gates that work in rounds, makes the processes agree. The same requests in the same order give the same
// decisions.
//
// Decisions are answered, not called back: an executor first gets to know all that follows from what it has told, and then starts
// it. What it starts may be complete at once, and be told from inside.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/state_visitor.h"
#include "core/base/units.h"

namespace tutti::core {

/// A communication of every training step, as a gate sees it. It is named by its index among the items of the gate.
struct GateItem {
  Bytes bytes;
  /// The lowest goes first.
  std::int64_t priority = 0;
  /// Only items of the same kind may travel as one (the data type, say).
  int kind = 0;
  /// It never travels with others.
  bool alone = false;
  /// It passes the gate at all.
  bool passes = true;
};

/// The items of a gate; gates of several workers share them.
using GateItems = std::shared_ptr<const std::vector<GateItem>>;

/// One item of one step of one replica.
struct GateRequest {
  std::int64_t replica = 0;
  std::int32_t step = 0;
  std::int32_t item = 0;
};

/// Items of a step that travel as one, in the order in which they lie in its buffer.
struct GateBatch {
  std::int32_t step = 0;
  std::vector<std::int32_t> items;

  bool operator==(const GateBatch&) const = default;
};

/// Replicas first_replica … first_replica + replicas - 1 start `batch`, in this order. Every batch is in the answer of the call that
/// decided it, even if no replica starts it yet; batches come in the same order everywhere.
struct GateDecision {
  std::int64_t first_replica = 0;
  std::int64_t replicas = 1;
  std::shared_ptr<const GateBatch> batch;
};

/// What a process says in a round. All processes of a round have equally many numbers; what they agree on is, number by number,
/// the least that any of them said.
struct GateProposal {
  std::int32_t step = 0;
  std::vector<std::int64_t> numbers;
};

/// Whose requests one gate object hears in a run.
enum class GateScope : std::uint8_t {
  kWorker,  ///< those of one worker's replicas; every worker has a gate of its own, which decides alone
  kAll,     ///< those of all replicas; where each process has a part of them, gates of processes agree in rounds
};

/// The replicas whose requests a gate hears.
struct GateMembers {
  std::int64_t first_replica = 0;
  std::int64_t replicas = 1;
};

class Gate {
 public:
  virtual ~Gate() = default;

  /// A replica has the item ready, at `now`. Answers what starts by that.
  virtual std::vector<GateDecision> ready(const GateRequest& request, Time now) = 0;
  /// A batch is complete on a replica; `request.item` is any of its items. Answers what starts by that.
  /// REQUIRES: a decision started it there.
  virtual std::vector<GateDecision> done(const GateRequest& request) = 0;

  /// When a round begins, if one is needed after what was told last and its time was not answered already; nothing otherwise. Ask after every
  /// call of ready() and end_round(). `now` never decreases over calls.
  virtual std::optional<Time> next_round(Time now);
  /// The round begins. Answers what these replicas say in it.
  virtual GateProposal begin_round(Time now);
  /// The processes of the round agreed, at `now`. Answers what starts.
  virtual std::vector<GateDecision> end_round(const GateProposal& agreed, Time now);

  /// Visits all state that decides what happens next. A gate that does not say what its state is cannot be remembered.
  virtual void visit_state(StateVisitor& visitor) { visitor.unfit(); }

 protected:
  Gate() = default;
  Gate(const Gate&) = default;
  Gate& operator=(const Gate&) = default;
};

/// What all processes agree on when one says `a` and another `b`. REQUIRES: they are of the same step and length.
GateProposal least_of(const GateProposal& a, const GateProposal& b);

}  // namespace tutti::core
