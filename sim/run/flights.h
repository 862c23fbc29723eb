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

/// A pack or an exchange of a step, in flight in a group.
struct Flight {
  std::uint32_t instance = 0;  ///< handle of its collective
  std::int32_t step = 0;
  std::int64_t number = 0;  ///< in the step: packs, then exchanges
  Work work;
  std::int64_t ranks_left = 0;
  core::Time first_start, last_start;
  std::vector<Cause> causes;        ///< per rank: of its launch
  std::vector<core::Time> started;  ///< per rank
  std::vector<bool> came, done;     ///< by replica's rank; only if there are timers (Timeouts)
  std::vector<bool> through;        ///< by rank; only for packs that others answer (Answers)
  /// For messages of an execution trace; else nothing.
  struct Message {
    std::int64_t from = 0, to = 0;  ///< replicas
    core::TaskId send = core::kNoTask, receive = core::kNoTask;
  };
  std::optional<Message> message;
  std::shared_ptr<const core::Collective>
      in_group;  ///< the group's; null: the plan's own, of the first group
  // For packs that are fused:
  std::shared_ptr<const FusedPacks> fused;
  std::vector<core::Time> asked;   ///< per rank: since when it waits for its cycle or its stream
  std::vector<core::Time> copies;  ///< per rank
};

/// All flights, by what they carry and by the handle of their collective.
class Flights {
 public:
  /// Returns null if it is not in flight.
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
  /// The flight is complete on all ranks. Its step and work stay known until its handle is used
  /// again.
  void remove(Flight& flight) {
    by_number_.erase({flight.step, flight.number, flight.work.place.group});
    flight.causes.clear();
    flight.fused.reset();
    flight.in_group.reset();
    flight.message.reset();
    flight.came.clear(), flight.done.clear(), flight.through.clear();
  }
  [[nodiscard]] bool empty() const { return by_number_.empty(); }

  /// Calls `visit` with each flight, current and past, by handle.
  template <class Visit>
  void visit(Visit visit) {
    for (auto& [instance, flight] : by_instance_) visit(flight);
  }
  /// Calls `visit` with step and number of each current flight, in order.
  template <class Visit>
  void visit_numbers(Visit visit) const {
    for (const auto& [key, instance] : by_number_) visit(std::get<0>(key), std::get<1>(key));
  }

 private:
  /// By step, number in it, and group.
  std::map<std::tuple<std::int32_t, std::int64_t, std::int64_t>, std::uint32_t> by_number_;
  std::map<std::uint32_t, Flight> by_instance_;
};

}  // namespace tutti::sim
