#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/schedule/schedule.h"
#include "core/strategy/collective.h"
#include "sim/device.h"
#include "sim/event_queue.h"
#include "sim/network/network.h"
#include "sim/trail.h"

namespace tutti::sim {

/// A step that a lane has gone through.
struct StepDone {
  std::uint32_t instance = 0;
  core::Rank rank = 0;
  core::Lane lane = 0;
  std::int64_t index = 0;
  core::Step step;
  core::Time start;  ///< the lane came to the step
  core::Time wait;   ///< of the time since then: until what it waited for began to happen
  core::Time end;
  core::Rank peer = -1;  ///< receives: whose message it took
  core::Lane peer_lane = -1;
  std::int64_t peer_index = -1;  ///< the sender's step
};

/// Whoever wants to know how collectives go.
class InterpreterListener {
 public:
  virtual ~InterpreterListener() = default;
  /// All lanes of a rank are through. The trail leads from the launch of some rank to here.
  virtual void rank_done(std::uint32_t instance, core::Rank rank, core::Time now, const Trail& trail) = 0;
  /// Called in the order of `end` per lane; only if steps are watched.
  virtual void step_done(const StepDone& step) = 0;
};

/// Executes schedules in virtual time: what Schedule says they mean, on Network and Devices.
///
/// A lane runs ahead of the clock where nobody can see it: after a send whose buffer is free only later, it goes on to
/// the next step at once if that step is a receive whose message has not come. So a step of a ring costs one event.
class Interpreter {
 public:
  Interpreter(Network& network, Devices& devices, EventQueue& events, InterpreterListener& listener, bool watch_steps)
      : network_(network), devices_(devices), events_(events), listener_(listener), watch_steps_(watch_steps) {}

  /// Lanes that one collective may have, over all ranks.
  static constexpr std::int64_t kMostLanes = (1 << 24) - 1;

  /// Makes room for a collective; nothing runs before ranks start.
  /// REQUIRES: `collective` outlives the instance and has at most kMostLanes lanes.
  std::uint32_t open(const core::Collective& collective);
  /// The rank takes part from `now` on.
  void start(std::uint32_t instance, core::Rank rank, core::Time now);
  /// Every rank is done; the instance's number may be used again.
  void close(std::uint32_t instance);

  /// Handles kLane, kDeliver and kSent.
  void go_on(const Event& event);
  void deliver(const Event& event);
  void buffer_free(const Event& event);

  /// Steps executed so far, over all instances (nops included).
  [[nodiscard]] std::int64_t steps_executed() const { return steps_executed_; }

 private:
  static constexpr std::int32_t kNone = -1;

  enum class Blocked : std::uint8_t { kNotStarted, kNo, kOnMessage, kOnAnyMessage, kOnLane, kOnSlot, kOnWire, kDone };
  enum class Phase : std::uint8_t { kFresh, kWorking, kWorked };
  enum class Receiving : std::uint8_t { kUnknown, kInOrder, kAny };

  struct LaneState {
    core::Rank rank = 0;
    core::Lane lane = 0;
    std::int64_t next = 0;
    std::int64_t steps = 0;
    core::Time ready;  ///< when the step before was complete; the lane's own clock
    Blocked blocked = Blocked::kNotStarted;
    Phase phase = Phase::kFresh;
    core::Time began;  ///< the step at hand: when the lane came to it
    core::Time wait;
    std::int32_t in_hand = kNone;       ///< connection whose slot the step at hand still holds
    std::int32_t first_waiter = kNone;  ///< lanes that wait for this one to get further
    std::int64_t wake_at = 0;           ///< steps that the first of them waits for
    std::int32_t next_waiter = kNone;
    std::int64_t awaited_steps = 0;  ///< kOnLane: how far the other one has to get
    std::int32_t last_in = kNone;    ///< the connections used last: most lanes have one each way
    std::int32_t last_out = kNone;
    std::int64_t peer_index = -1;
    Receiving receiving = Receiving::kUnknown;
    std::uint16_t sent = 0;  ///< to tell apart what one lane sends at the same time
  };

  struct Connection {
    std::int32_t from = 0;
    std::int32_t to = 0;
    std::int32_t path = kNone;
    std::int32_t arrived = 0;   ///< delivered and not taken
    std::int32_t occupied = 0;  ///< slots: sent and not yet free
    std::int32_t blocked_sender = kNone;
    std::vector<std::int64_t> sender_steps;  ///< of messages not yet taken, behind those that were; only if watched
    std::size_t sender_steps_taken = 0;
  };

  struct Instance {
    std::uint32_t id = 0;
    const core::Collective* collective = nullptr;
    const core::Schedule* schedule = nullptr;
    std::uint64_t serial = 0;
    std::vector<std::int32_t> first_lane;  ///< per rank, and the number of lanes behind the last
    std::vector<LaneState> lanes;
    std::vector<Trail> trails;             ///< per lane
    std::vector<std::int32_t> lanes_left;  ///< per rank
    std::vector<Connection> connections;
    std::unordered_map<std::uint64_t, std::int32_t> connection_ids;
    std::unordered_map<std::int32_t, std::deque<std::int32_t>> arrived_any;  ///< per lane: connections, oldest first
  };

  [[nodiscard]] static std::int32_t lane_number(const Instance& instance, core::Rank rank, core::Lane lane) {
    return instance.first_lane[static_cast<std::size_t>(rank)] + lane;
  }
  [[nodiscard]] static LaneState& lane_at(Instance& instance, std::int32_t lane) {
    return instance.lanes[static_cast<std::size_t>(lane)];
  }
  [[nodiscard]] static Trail& trail_at(Instance& instance, std::int32_t lane) {
    return instance.trails[static_cast<std::size_t>(lane)];
  }

  void run(Instance& instance, std::int32_t lane, core::Time now);
  bool run_step(Instance& instance, std::int32_t lane, core::Time now);
  bool wait_fulfilled(Instance& instance, std::int32_t lane, const core::Wait& wait, core::Time now);
  bool take_message(Instance& instance, std::int32_t lane, const core::Step& step);
  bool work(Instance& instance, std::int32_t lane, const core::Step& step, core::Time now);
  bool send(Instance& instance, std::int32_t lane, const core::Step& step, core::Time now);
  bool multicast(Instance& instance, std::int32_t lane, const core::Step& step, core::Time now);
  bool receives_any(Instance& instance, std::int32_t lane);
  bool switch_reduce(Instance& instance, std::int32_t lane, const core::Step& step, core::Time now);
  void sent(Instance& instance, std::int32_t lane, std::int32_t path, core::Bytes bytes, core::Time now,
            core::Time buffer_free);
  void complete_step(Instance& instance, std::int32_t lane, const core::Step& step, core::Time end);
  void free_slot(Instance& instance, std::int32_t lane, core::Time now);
  void finish_lane(Instance& instance, std::int32_t lane);
  void wake_waiters(Instance& instance, std::int32_t lane);
  void schedule_lane(Instance& instance, std::int32_t lane, core::Time at);
  [[nodiscard]] static core::Bytes bytes_of(const Instance& instance, std::int64_t elements) {
    return elements * core::size_of(instance.collective->type);
  }
  [[nodiscard]] static std::uint64_t order_of(Instance& instance, std::int32_t lane);

  static std::int32_t connection(Instance& instance, std::int32_t from, std::int32_t to);
  std::int32_t path_of(Instance& instance, Connection& connection);
  [[nodiscard]] static core::PartId device_of(const Instance& instance, core::Rank rank) {
    return instance.collective->group.device(rank);
  }

  Network& network_;
  Devices& devices_;
  EventQueue& events_;
  InterpreterListener& listener_;
  bool watch_steps_;
  std::vector<std::unique_ptr<Instance>> instances_;
  std::vector<std::uint32_t> free_instances_;
  std::uint64_t serial_ = 0;
  std::int64_t steps_executed_ = 0;
};

}  // namespace tutti::sim
