#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "core/schedule/step.h"

namespace tutti::core {

/// What drives a lane, and so whose time its reductions and copies take.
enum class Engine : std::uint8_t {
  kKernel,      ///< a thread block of a GPU kernel that reads and writes peers' memory itself (NCCL)
  kCopyEngine,  ///< a DMA engine moves the bytes, kernels of the device reduce them (TensorFlow's tensor transfers)
  kCpu,         ///< CPU threads
};

/// A way to renumber `workers` workers, by any number d: each keeps its devices, so their ranks move with it.
enum class Renumbering : std::uint8_t {
  kShift,     ///< worker w becomes (w + d) mod workers
  kExchange,  ///< worker w becomes w xor d; a power of two of workers
};

/// Steps of a lane up to `end`, of which each does what the one `period` steps before it does, but for what lies where.
struct AlikeSteps {
  std::int64_t period = 0;  ///< 0: none are known to be
  std::int64_t end = 0;
};

/// A connection with this many slots never holds its sender back.
inline constexpr int kUnlimitedCredits = std::numeric_limits<int>::max();

/// How one collective moves its bytes: for every rank, lanes of ordered steps.
///
/// A schedule is a function, not a list: it answers what step i of lane l of rank r is, so that a ring over a million
/// ranks takes no more memory than one over eight. Implementations hold the group's size, the number of elements and
/// the algorithm's parameters, nothing per rank or step.
///
/// Meaning, the same for the checker, the simulator and the real run:
/// - A lane runs its steps in order, one at a time. Lanes of a rank run at the same time, held together only by `wait`.
/// - A connection is an ordered pair of lanes. Its messages arrive in the order in which they were sent; the k-th
///   receive from it takes the k-th message. Both sides state the same number of elements.
/// - A connection into a lane has `credits(rank, lane)` slots. A send takes one and is held back while none is free; it
///   is free again once the receiving step has taken the message out (for fused steps: once it has been reduced or
///   kept, before it is sent on).
/// - A send step is complete when the source may be overwritten; a receiving step when what it does is done.
/// - A lane that holds kReceiveAny steps receives by nothing else.
class Schedule {
 public:
  virtual ~Schedule() = default;

  /// Ranks that take part, helpers included.
  [[nodiscard]] virtual std::int32_t ranks() const = 0;
  [[nodiscard]] virtual std::int32_t lanes(Rank rank) const = 0;
  [[nodiscard]] virtual std::int64_t steps(Rank rank, Lane lane) const = 0;
  /// REQUIRES: 0 ≤ index < steps(rank, lane). Cost: constant.
  [[nodiscard]] virtual Step step(Rank rank, Lane lane, std::int64_t index) const = 0;

  /// Visits steps of the lane that send, or have a switch add up, so that every connection, multicast and group that the
  /// lane uses is among them; not every step if it can be helped. Cost: that of all steps, unless the algorithm knows.
  virtual void visit_ways(Rank rank, Lane lane, const std::function<void(const Step&)>& visit) const;

  /// Whether no worker can tell where it stands: renumbering workers renumbers the peers in their steps and changes nothing
  /// else but what lies where (kinds, counts, waits, engines and credits are the same), and nothing comes from other workers
  /// in the order of its arrival. Ranks are those of workers of `per_worker` ranks each, worker by worker; behind them may
  /// come a host of each. False may also mean that the algorithm does not know. Cost: constant.
  [[nodiscard]] virtual bool same_everywhere(Renumbering by, std::int32_t per_worker) const {
    return static_cast<void>(by), static_cast<void>(per_worker), false;
  }

  /// Steps from `index` on that are alike in kind, counts and peers, and wait for no other lane. `period` 0 may also mean that
  /// the algorithm does not know. REQUIRES: 0 ≤ index < steps(rank, lane). Cost: constant.
  [[nodiscard]] virtual AlikeSteps alike_from(Rank rank, Lane lane, std::int64_t index) const {
    return static_cast<void>(rank), static_cast<void>(lane), static_cast<void>(index), AlikeSteps{};
  }

  /// Elements of the rank's scratch buffer.
  [[nodiscard]] virtual std::int64_t scratch(Rank rank) const { return static_cast<void>(rank), 0; }
  /// Slots of each connection into the lane, at least 1.
  [[nodiscard]] virtual int credits(Rank rank, Lane lane) const {
    return static_cast<void>(rank), static_cast<void>(lane), kUnlimitedCredits;
  }
  [[nodiscard]] virtual Engine engine(Rank rank, Lane lane) const {
    return static_cast<void>(rank), static_cast<void>(lane), Engine::kKernel;
  }
  /// kReceiveAny: the slot of a message from `sender`.
  [[nodiscard]] virtual std::int32_t arrival_slot(Rank rank, Lane lane, Rank sender) const {
    return static_cast<void>(rank), static_cast<void>(lane), sender;
  }

 protected:
  Schedule() = default;
  Schedule(const Schedule&) = default;
  Schedule& operator=(const Schedule&) = default;
};

/// An even cut of `total` elements into `parts`: part i, from 0. The first `total % parts` parts are one longer.
struct EvenCut {
  std::int64_t total = 0;
  std::int64_t parts = 1;

  [[nodiscard]] std::int64_t offset(std::int64_t i) const {
    const std::int64_t longer = total % parts;
    return i * (total / parts) + (i < longer ? i : longer);
  }
  [[nodiscard]] std::int64_t size(std::int64_t i) const { return total / parts + (i < total % parts ? 1 : 0); }
  /// Parts that are not empty: the first this many.
  [[nodiscard]] std::int64_t filled() const { return total < parts ? total : parts; }
};

}  // namespace tutti::core
