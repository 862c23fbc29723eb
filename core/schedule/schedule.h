#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "core/schedule/step.h"

namespace tutti::core {

/// The hardware that executes the steps of a lane.
enum class Engine : std::uint8_t {
  kKernel,      ///< a thread block of a GPU kernel that accesses peers' memory directly (NCCL)
  kCopyEngine,  ///< a DMA engine moves the bytes, and GPU kernels reduce them (TensorFlow's tensor
                ///< transfers)
  kCpu,         ///< CPU threads
};

/// A renumbering of the workers that depends on a number d. The ranks of a worker's devices move
/// together with the worker.
enum class Renumbering : std::uint8_t {
  kShift,     ///< worker w becomes (w + d) mod workers
  kExchange,  ///< worker w becomes w xor d; the number of workers is a power of two
};

/// A range of a lane's steps that repeats with a fixed period: except for offsets, each step equals
/// the step `period` positions earlier. `end` is the index after the last step of the range.
struct IdenticalSteps {
  std::int64_t period = 0;  ///< 0: no repetition is known
  std::int64_t end = 0;
};

/// The number of slots of a connection on which sends never block.
inline constexpr int kUnlimitedCredits = std::numeric_limits<int>::max();

/// The steps of one collective: for every rank, lanes of ordered steps.
///
/// A schedule is a function, not a list: it computes step i of lane l of rank r on request, so that
/// a ring over a million ranks takes no more memory than a ring over eight. Implementations store
/// the group's size, the number of elements and the algorithm's parameters, but nothing per rank or
/// step.
///
/// The semantics, which the checker, the simulator and the real run share:
/// - A lane runs its steps in order, one at a time. Lanes of a rank run concurrently, except that a
///   step may wait for steps of other lanes (Step::wait).
/// - A connection is an ordered pair of lanes. Messages on a connection arrive in the order in
///   which they were sent; the k-th receive on the connection takes the k-th message. The send and
///   the receive of a message have the same number of elements.
/// - A connection into a lane has `credits(rank, lane)` slots. A send occupies one slot, and blocks
///   while no slot is free. The slot becomes free when the receiving step has consumed the message.
///   A fused step consumes a message when it reduces or stores it, before it sends the result.
/// - A send step is complete when its source may be overwritten. A receiving step is complete when
///   its target contains the result.
/// - A lane with kReceiveAny steps has no receiving steps of other kinds.
class Schedule {
 public:
  virtual ~Schedule() = default;

  /// The number of ranks, including helpers.
  [[nodiscard]] virtual std::int32_t ranks() const = 0;
  [[nodiscard]] virtual std::int32_t lanes(Rank rank) const = 0;
  [[nodiscard]] virtual std::int64_t steps(Rank rank, Lane lane) const = 0;
  /// REQUIRES: 0 ≤ index < steps(rank, lane). Cost: constant.
  [[nodiscard]] virtual Step step(Rank rank, Lane lane, std::int64_t index) const = 0;

  /// Calls `visit` for some of the lane's sends, multicasts and reductions in a switch, so that
  /// each outgoing connection, multicast group and switch-reduction group of the lane occurs at
  /// least once.
  /// Cost: one visit of every step, unless the algorithm has a shortcut.
  virtual void visit_ways(Rank rank, Lane lane,
                          const std::function<void(const Step&)>& visit) const;

  /// True if the schedule is known to be symmetric under the renumberings `by`: if workers are
  /// renumbered, steps refer to the renumbered peers, and nothing else changes except offsets. In a
  /// symmetric schedule, no worker has a kReceiveAny step that receives from other workers. Each
  /// worker has `per_worker` consecutive ranks; one host per worker may follow after all replicas.
  /// Cost: constant.
  [[nodiscard]] virtual bool same_everywhere(Renumbering by, std::int32_t per_worker) const {
    return static_cast<void>(by), static_cast<void>(per_worker), false;
  }

  /// Returns a range of repeating steps that begins at step `index`. Repeated steps have equal
  /// kinds, counts and peers, and do not wait for other lanes. `period` is 0 if no such range is
  /// known. REQUIRES: 0 ≤ index < steps(rank, lane). Cost: constant.
  [[nodiscard]] virtual IdenticalSteps identical_from(Rank rank, Lane lane,
                                                      std::int64_t index) const {
    return static_cast<void>(rank), static_cast<void>(lane), static_cast<void>(index),
           IdenticalSteps{};
  }

  /// The number of elements of the rank's scratch buffer.
  [[nodiscard]] virtual std::int64_t scratch(Rank rank) const { return static_cast<void>(rank), 0; }
  /// The number of slots of each connection into the lane, at least 1.
  [[nodiscard]] virtual int credits(Rank rank, Lane lane) const {
    return static_cast<void>(rank), static_cast<void>(lane), kUnlimitedCredits;
  }
  [[nodiscard]] virtual Engine engine(Rank rank, Lane lane) const {
    return static_cast<void>(rank), static_cast<void>(lane), Engine::kKernel;
  }
  /// Returns the index of the range in which a kReceiveAny step stores a message from `sender` (see
  /// Step::stride).
  [[nodiscard]] virtual std::int32_t arrival_slot(Rank rank, Lane lane, Rank sender) const {
    return static_cast<void>(rank), static_cast<void>(lane), sender;
  }

 protected:
  Schedule() = default;
  Schedule(const Schedule&) = default;
  Schedule& operator=(const Schedule&) = default;
};

/// Divides `total` elements into `parts` parts, which are numbered from 0. The first `total %
/// parts` parts are one element longer than the others.
struct EvenCut {
  std::int64_t total = 0;
  std::int64_t parts = 1;

  [[nodiscard]] std::int64_t offset(std::int64_t i) const {
    const std::int64_t longer = total % parts;
    return i * (total / parts) + (i < longer ? i : longer);
  }
  [[nodiscard]] std::int64_t size(std::int64_t i) const {
    return total / parts + (i < total % parts ? 1 : 0);
  }
  /// The number of non-empty parts. Non-empty parts come before empty ones.
  [[nodiscard]] std::int64_t filled() const { return total < parts ? total : parts; }
};

}  // namespace tutti::core
