#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/collectives/plan_collectives.h"
#include "sim/engine/critical_path.h"
#include "sim/run/fusing.h"

namespace tutti::sim {

/// Either a collective in flight, namely that of a pack or an exchange in one group of replicas, or
/// a message of an execution trace in flight. An exchange is a collective during computation, as in
/// tensor parallelism.
struct Flight {
  std::uint32_t instance = 0;  ///< handle of its collective (CollectiveEngines)
  std::int32_t step = 0;
  std::int64_t number = 0;  ///< index in a list that contains first all packs of the step,
                            ///< then all exchanges
  Work work;
  std::int64_t ranks_left = 0;
  core::Time first_start, last_start;
  std::vector<Cause> causes;        ///< for each rank, the cause of its start
  std::vector<core::Time> started;  ///< for each rank, the time at which it started
  /// For each rank that is a replica: `rank_started` is true if the rank has started, and `done` is
  /// true if the rank has completed its part. Empty if there are no timers (Timeouts).
  std::vector<bool> rank_started, done;
  /// For each rank, true if it has completed its part. Used only for a push that is followed by a
  /// pull (PullOrder).
  std::vector<bool> rank_completed;
  /// The replicas between which a message of an execution trace travels; nullopt for other flights.
  struct Message {
    std::int64_t from = 0, to = 0;  ///< replicas
    core::TaskId send = core::kNoTask, receive = core::kNoTask;
  };
  std::optional<Message> message;
  /// The collective of this group; null if the group uses the plan's collective of the first group.
  std::shared_ptr<const core::Collective> in_group;
  // The following members are used only for packs that are fused.
  std::shared_ptr<const FusedPacks> fused;
  std::vector<core::Time>
      requested;  ///< for each rank, the time at which its wait for a cycle of Horovod began
  /// For each rank, the duration of the copies into and out of the fusion buffer.
  std::vector<core::Time> copies;
};

/// All flights. A flight can be found by its pack or exchange, and by the handle of its collective.
class Flights {
 public:
  /// Returns null if there is no such flight.
  [[nodiscard]] Flight* find(std::int32_t step, std::int64_t number, std::int64_t group) {
    const auto known = by_number_.find({step, number, group});
    return known == by_number_.end() ? nullptr : &by_instance_.at(known->second);
  }
  [[nodiscard]] const Flight* find(std::int32_t step, std::int64_t number,
                                   std::int64_t group) const {
    const auto known = by_number_.find({step, number, group});
    return known == by_number_.end() ? nullptr : &by_instance_.at(known->second);
  }
  Flight& of(std::uint32_t instance) { return by_instance_[instance]; }
  /// Adds a flight. REQUIRES: find() returns null.
  Flight& add(std::uint32_t instance, std::int32_t step, std::int64_t number, const Work& work) {
    by_number_[{step, number, work.place.group}] = instance;
    Flight& flight = by_instance_[instance];
    flight = {};
    flight.instance = instance;
    flight.step = step;
    flight.number = number;
    flight.work = work;
    return flight;
  }
  /// Removes a flight that is complete on all ranks. The reference stays valid until the handle is
  /// reused, but only the members `step` and `work` may still be used.
  void remove(Flight& flight) {
    by_number_.erase({flight.step, flight.number, flight.work.place.group});
    flight.causes.clear();
    flight.fused.reset();
    flight.in_group.reset();
    flight.message.reset();
    flight.rank_started.clear(), flight.done.clear(), flight.rank_completed.clear();
  }
  [[nodiscard]] bool empty() const { return by_number_.empty(); }

  /// Calls `visit` with each flight, in order of handles. Removed flights are included until their
  /// handle is reused.
  template <class Visit>
  void visit(Visit visit) {
    for (auto& [instance, flight] : by_instance_) visit(flight);
  }
  /// Calls `visit` with the step and the number of each flight that was not removed, in the order
  /// of step, number and group.
  template <class Visit>
  void visit_numbers(Visit visit) const {
    for (const auto& [key, instance] : by_number_) visit(std::get<0>(key), std::get<1>(key));
  }

 private:
  /// The handles of flights, indexed by step, number in the step, and group.
  std::map<std::tuple<std::int32_t, std::int64_t, std::int64_t>, std::uint32_t> by_number_;
  std::map<std::uint32_t, Flight> by_instance_;
};

}  // namespace tutti::sim
