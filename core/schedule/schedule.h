#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "core/schedule/step.h"

namespace tutti::core {

/// The engine that executes a lane; its reductions and copies take time on that engine.
enum class Engine : std::uint8_t {
  kKernel,      ///< a thread block of a GPU kernel that accesses peers' memory directly (NCCL)
  kCopyEngine,  ///< a DMA engine moves the bytes, kernels of the device reduce them (TensorFlow's
                ///< tensor transfers)
  kCpu,         ///< CPU threads
};

/// A renumbering of `workers` workers by a number d. Workers keep their devices, so ranks are
/// renumbered with them.
enum class Renumbering : std::uint8_t {
  kShift,     ///< worker w becomes (w + d) mod workers
  kExchange,  ///< worker w becomes w xor d; the number of workers is a power of two
};

/// A range of a lane's steps, up to `end`, in which each step equals the one `period` steps before
/// it except for offsets.
struct IdenticalSteps {
  std::int64_t period = 0;  ///< 0: no such range is known
  std::int64_t end = 0;
};

/// The credits of a connection whose sender is never blocked.
inline constexpr int kUnlimitedCredits = std::numeric_limits<int>::max();

/// The steps of one collective: for every rank, lanes of ordered steps.
///
/// A schedule is a function, not a list: it computes step i of lane l of rank r on request, so that
/// a ring over a million ranks takes no more memory than one over eight. Implementations store the
/// group's size, the number of elements and the algorithm's parameters, nothing per rank or step.
///
/// The semantics, which the checker, the simulator and the real run share:
/// - A lane runs its steps in order, one at a time. Lanes of a rank run concurrently; only `wait`
///   orders them.
/// - A connection is an ordered pair of lanes. Its messages arrive in the order in which they were
///   sent; the k-th receive from it takes the k-th message. Both sides state the same number of
///   elements.
/// - A connection into a lane has `credits(rank, lane)` slots. A send occupies one, and blocks
///   while none is free. The slot is free again once the receiving step has consumed the message (a
///   fused step: once it has reduced or stored it, before it sends it on).
/// - A send step is complete when its source may be overwritten; a receiving step when its effect
///   is complete.
/// - A lane with kReceiveAny steps uses no other receiving steps.
class Schedule {
 public:
  virtual ~Schedule() = default;

  /// The number of ranks that take part, including helpers.
  [[nodiscard]] virtual std::int32_t ranks() const = 0;
  [[nodiscard]] virtual std::int32_t lanes(Rank rank) const = 0;
  [[nodiscard]] virtual std::int64_t steps(Rank rank, Lane lane) const = 0;
  /// REQUIRES: 0 ≤ index < steps(rank, lane). Cost: constant.
  [[nodiscard]] virtual Step step(Rank rank, Lane lane, std::int64_t index) const = 0;

  /// Visits steps of the lane that send or use in-switch reduction, so that each of the lane's
  /// connections, multicasts and groups is visited at least once. Cost: that of all steps, unless
  /// the algorithm has a shortcut.
  virtual void visit_ways(Rank rank, Lane lane,
                          const std::function<void(const Step&)>& visit) const;

  /// True if the schedule is symmetric: renumbering workers renumbers the peers in their steps and
  /// changes nothing else except offsets (kinds, counts, waits, engines and credits are equal), and
  /// no worker receives from other workers in order of arrival. Workers have `per_worker`
  /// consecutive ranks each, worker by worker; one host per worker may follow. False may also mean
  /// that the algorithm does not know. Cost: constant.
  [[nodiscard]] virtual bool same_everywhere(Renumbering by, std::int32_t per_worker) const {
    return static_cast<void>(by), static_cast<void>(per_worker), false;
  }

  /// Returns the range of steps from `index` on that repeat with equal kinds, counts and peers, and
  /// wait for no other lane. `period` 0 may also mean that the algorithm does not know. REQUIRES: 0
  /// ≤ index < steps(rank, lane). Cost: constant.
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
  /// Returns the slot of a message from `sender` for kReceiveAny.
  [[nodiscard]] virtual std::int32_t arrival_slot(Rank rank, Lane lane, Rank sender) const {
    return static_cast<void>(rank), static_cast<void>(lane), sender;
  }

 protected:
  Schedule() = default;
  Schedule(const Schedule&) = default;
  Schedule& operator=(const Schedule&) = default;
};

/// Divides `total` elements evenly into `parts`, numbered from 0. The first `total % parts` parts
/// are one element longer.
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
  /// The number of parts that are not empty; they come first.
  [[nodiscard]] std::int64_t filled() const { return total < parts ? total : parts; }
};

}  // namespace tutti::core
