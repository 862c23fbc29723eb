#pragma once

// All lanes of a collective are numbered consecutively, rank by rank, and the state of lanes is in
// arrays indexed by this number. Data that only some runs need (causal chains, observed steps) is
// in separate arrays, which are empty in other runs. Connections are made when they are first used,
// because most lanes have only one connection per direction. A lane is blocked for exactly one
// reason (Blocked). The event that removes the reason continues the lane: the arrival of a message,
// a free slot, progress of another lane, or the departure of a message.
//
// The class is implemented in four files: interpreter.cpp executes steps, instances.cpp opens and
// closes collectives, sharing.cpp slows down devices that also compute, and interpreter_state.cpp
// visits the state for rounds.h. Network decides when messages arrive.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "core/base/check.h"
#include "core/schedule/schedule.h"
#include "core/strategy/collective.h"
#include "sim/device/device.h"
#include "sim/engine/causal_chain.h"
#include "sim/engine/event_order.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/state_visitor.h"
#include "sim/folding/ties.h"
#include "sim/interpreter/collective_engine.h"
#include "sim/network/network.h"

namespace tutti::sim {

/// Executes schedules in virtual time on Network and Devices, with the semantics that
/// core::Schedule defines.
///
/// A lane runs ahead of the clock if this has no observable effect on other components. After a
/// send, for example, the lane continues before its buffer is free if its next step is a receive
/// whose message has not arrived. A step of a ring therefore costs one event.
class Interpreter final : public CollectiveEngine {
 public:
  Interpreter(Network& network, Devices& devices, EventQueue& events, bool watch_steps)
      : network_(network), devices_(devices), events_(events), watch_steps_(watch_steps) {
    TUTTI_CHECK(!watch_steps || network.keeps_causal_chains(),
                "steps are observed, but the network keeps no causal chains");
  }

  /// Starts to report requests to `ties`.
  void watch(Ties& ties) { ties_ = &ties; }

  /// The maximum number of lanes of one collective, over all ranks.
  static constexpr std::int64_t kMaxLanes = (1 << kTurnBits) - 1;

  /// Returns true, because every collective has a schedule.
  [[nodiscard]] bool takes(const core::Collective&) const override { return true; }
  void expect(const core::Collective& collective, const GoOn& go_on) override;
  /// REQUIRES: `collective` has at most kMaxLanes lanes.
  std::uint32_t open(const core::Collective& collective, CollectiveListener& listener) override;
  void start(std::uint32_t instance, core::Rank rank, core::Time now) override;
  void close(std::uint32_t instance) override;
  [[nodiscard]] std::int64_t work_done() const override { return steps_executed_; }
  [[nodiscard]] bool state_is_visited() const override { return true; }

  /// Handles kLane, kDeliver, kArrive and kSent.
  void handle(const Event& event) override;
  void go_on(const Event& event);
  void deliver(const Event& event);
  void arrive(const Event& event);
  void buffer_free(const Event& event);

  /// A lane of the only collective in flight, and the identical steps that the lane will execute
  /// next.
  struct Pace {
    std::uint32_t instance = 0;
    std::uint64_t serial = 0;
    std::uint64_t opened = 0;  ///< number of collectives that had been opened when find_pace()
                               ///< returned this object
    std::size_t lane = 0;
    std::int64_t lanes = 0;  ///< number of lanes of the collective
    core::IdenticalSteps identical;
  };
  /// Returns the lane with the largest number of identical next steps. Returns nullopt if no lane
  /// has identical steps, if several collectives are in flight, or if the collective has more than
  /// `max_lanes` lanes.
  [[nodiscard]] std::optional<Pace> find_pace(std::int64_t max_lanes) const;
  /// Returns the number of steps that the lane has completed; nullopt if the collective has ended,
  /// or if another collective has been opened since find_pace() was called.
  [[nodiscard]] std::optional<std::int64_t> progress(const Pace& pace) const;
  /// Returns the number of completed steps of each lane of the collective. REQUIRES: the collective
  /// has not ended.
  [[nodiscard]] std::vector<std::int64_t> progress_of_lanes(const Pace& pace) const;
  /// Returns the number of further rounds in which all lanes repeat the steps of the last two
  /// rounds. `before`: the progress of the lanes when these two rounds began. REQUIRES: both rounds
  /// had the same number of steps.
  [[nodiscard]] std::int64_t rounds_left(const Pace& pace,
                                         const std::vector<std::int64_t>& before) const;
  /// Visits all state of the collective. REQUIRES: causal chains are kept.
  void visit_state(const Pace& pace, StateVisitor& visitor);

  /// Returns the next serial number, for a collective that another engine executes. All engines
  /// share one sequence of serial numbers, because these numbers order simultaneous events.
  std::uint64_t take_serial() { return ++serial_; }

  /// Returns the number of schedule steps that have been executed, over all instances and including
  /// no-ops.
  [[nodiscard]] std::int64_t steps_executed() const { return steps_executed_; }

 private:
  static constexpr std::int32_t kNone = -1;

  enum class Blocked : std::uint8_t {
    kNotStarted,
    kNo,
    kOnMessage,
    kOnAnyMessage,
    kOnLane,
    kOnSlot,
    kOnWire,
    kDone
  };
  enum class Phase : std::uint8_t { kFresh, kWorking, kWorked };
  enum class Receiving : std::uint8_t { kUnknown, kInOrder, kAny };
  /// The component that executes the lane's reductions and copies: the device, or a kernel.
  /// kByKernelThatHolds: the kernel occupies a multiprocessor of a device that also computes.
  enum class Driven : std::uint8_t { kUnknown, kByDevice, kByKernel, kByKernelThatHolds };

  /// The fields of a step that are needed to execute it.
  struct StepFields {
    core::StepKind kind = core::StepKind::kNop;
    bool accumulate = false;
    std::int32_t inputs = 0;
    core::Lane wait_lane = -1;
    std::int32_t from = kNone;  ///< index in Instance::lanes of the lane whose message this step
                                ///< receives
    std::int32_t to = kNone;
    std::int32_t from_away = 0;  ///< distance to the sender's worker (Peer::away)
    std::int32_t to_away = 0;
    std::int64_t wait_count = 0;
    core::Bytes source;
    core::Bytes target;
  };

  /// The state of a lane. The size of the struct is two cache lines, so that the lanes of a
  /// collective over thousands of ranks fit into the second-level cache.
  struct alignas(64) LaneState {
    core::Rank rank = 0;
    core::Lane lane = 0;
    std::int64_t next = 0;
    std::int64_t steps = 0;
    core::Time ready;  ///< end of the previous step: the lane's own clock
    StepFields step;
    bool step_known = false;  ///< true if `step` describes the next step
    Blocked blocked = Blocked::kNotStarted;
    Phase phase = Phase::kFresh;
    Receiving receiving = Receiving::kUnknown;
    bool awaited = false;  ///< true if other lanes wait for this lane (Waiting)
    Driven driven = Driven::kUnknown;
    std::uint16_t sent = 0;  ///< number of sent messages modulo 2^16; orders simultaneous messages
    Devices::Id device = kNone;  ///< kNone until the lane first uses the device
    std::int32_t held_connection =
        kNone;  ///< the connection whose slot the current step still holds
    /// The last connection that the lane used in each direction. Most lanes use only one connection
    /// in each direction.
    std::int32_t last_in = kNone;
    std::int32_t last_out = kNone;
    /// For a lane that receives in order of arrival: the lane's index in Instance::arrivals.
    std::int32_t arrivals = kNone;
    std::uint32_t turn = 0;  ///< the lane's index in the order of simultaneous events
  };
  static_assert(sizeof(LaneState) == 128);

  /// The connections whose messages have arrived, in order of arrival. The first `taken` messages
  /// have been consumed.
  struct Arrivals {
    std::vector<std::int32_t> connections;
    std::size_t taken = 0;
  };

  /// The state of the waits between the lanes of one rank.
  struct Waiting {
    /// The head of the list of lanes that wait for this lane's progress.
    std::int32_t first_waiter = kNone;
    std::int32_t next_waiter = kNone;
    std::int64_t wake_at = 0;  ///< number of completed steps at which the first waiter is woken
    /// For kOnLane: the number of steps that the other lane must have completed.
    std::int64_t awaited_steps = 0;
  };

  /// Data for the record of the lane's current step.
  struct Watched {
    core::Time wait;
    std::int64_t peer_index = -1;
  };

  struct Connection {
    std::int32_t from = 0;
    std::int32_t to = 0;
    std::int32_t away = 0;  ///< distance between the workers (Peer::away)
    std::int32_t path = kNone;
    std::int32_t credits = 0;
    std::int32_t arrived = 0;   ///< number of messages that were delivered but not yet consumed
    std::int32_t occupied = 0;  ///< number of slots in use, which is the number of sent messages
                                ///< whose slot is not free yet
    std::int32_t blocked_sender = kNone;
  };

  /// The key of a connection: the two lanes, and the distance between their workers.
  struct Ends {
    std::int32_t from, to, away;
    bool operator==(const Ends&) const = default;
  };
  struct HashOfEnds {
    std::size_t operator()(const Ends& ends) const {
      const auto both =
          static_cast<std::uint64_t>(ends.from) << 32 | static_cast<std::uint32_t>(ends.to);
      return both ^ static_cast<std::uint64_t>(ends.away) * 0x9e37'79b9'7f4a'7c15;
    }
  };

  /// The sender's step of each message of a connection, in order of sending. The first `taken`
  /// messages have been consumed.
  struct SenderSteps {
    std::vector<std::int64_t> steps;
    std::size_t taken = 0;
  };

  struct Instance {
    std::uint32_t id = 0;
    CollectiveListener* listener = nullptr;
    const core::Collective* collective = nullptr;
    const core::Schedule* schedule = nullptr;
    std::uint64_t serial = 0;
    /// Indexed by rank: the index of the rank's first lane. The last entry is the number of lanes.
    std::vector<std::int32_t> first_lane;
    std::vector<LaneState> lanes;
    std::vector<Waiting> waiting;            ///< by lane
    std::vector<Watched> watched;            ///< by lane; only if steps are watched
    std::vector<CausalChain> causal_chains;  ///< by lane; only if causal chains are kept
    std::vector<std::int32_t> lanes_left;    ///< by rank: number of lanes that have not completed
    std::vector<Connection> connections;
    std::vector<SenderSteps> sender_steps;  ///< by connection; only if steps are watched
    std::unordered_map<Ends, std::int32_t, HashOfEnds> connection_ids;
    std::vector<Arrivals> arrivals;
  };

  [[nodiscard]] static std::int32_t lane_number(const Instance& instance, core::Rank rank,
                                                core::Lane lane) {
    return instance.first_lane[rank] + lane;
  }
  [[nodiscard]] static LaneState& lane_at(Instance& instance, std::int32_t lane) {
    return instance.lanes[lane];
  }
  [[nodiscard]] static CausalChain& causal_chain_at(Instance& instance, std::int32_t lane) {
    return instance.causal_chains[lane];
  }

  static void visit(LaneState& state, StateVisitor& visitor);
  void arrived(Address address, core::Time now, const Network::Arrival* arrival);
  /// Returns the lane's next step. REQUIRES: the lane has a next step.
  static const StepFields& step_at_hand(const Instance& instance, LaneState& state) {
    if (!state.step_known) look_up_step(instance, state);
    return state.step;
  }
  static void look_up_step(const Instance& instance, LaneState& state);
  void run(Instance& instance, std::int32_t lane, core::Time now);
  bool run_step(Instance& instance, std::int32_t lane, core::Time now);
  bool wait_fulfilled(Instance& instance, std::int32_t lane, core::Time now);
  bool take_message(Instance& instance, std::int32_t lane, const StepFields& step);
  bool work(Instance& instance, std::int32_t lane, const StepFields& step, core::Time now);
  bool send(Instance& instance, std::int32_t lane, const StepFields& step, core::Time now);
  bool multicast(Instance& instance, std::int32_t lane, const StepFields& step, core::Time now);
  bool receives_any(Instance& instance, std::int32_t lane);
  static Arrivals& arrivals_of(Instance& instance, LaneState& state);
  bool switch_reduce(Instance& instance, std::int32_t lane, const StepFields& step, core::Time now);
  ComputeStream* compute_stream_of(const Instance& instance, LaneState& state);
  void take_multiprocessor(const Instance& instance, LaneState& state, core::Time now);
  void give_back_multiprocessor(LaneState& state);
  void move_in_memory(const Instance& instance, LaneState& state, const StepFields& step,
                      core::Time now);
  void sent(Instance& instance, std::int32_t lane, std::int32_t path, core::Bytes bytes,
            core::Time now, core::Time buffer_free);
  static void add_waiter(Instance& instance, std::int32_t lane, std::int32_t waiter,
                         std::int64_t count);
  void complete_step(Instance& instance, std::int32_t lane, core::Time end);
  void tell(Instance& instance, std::int32_t lane, core::Time end);
  void take_causal_chain(Instance& instance, std::int32_t lane, std::int32_t from) const;
  void waited(Instance& instance, std::int32_t lane, core::Time wait) const;
  void free_slot(Instance& instance, std::int32_t lane, core::Time now);
  void finish_lane(Instance& instance, std::int32_t lane);
  void wake_waiters(Instance& instance, std::int32_t lane);
  void schedule_lane(Instance& instance, std::int32_t lane, core::Time at);
  [[nodiscard]] static core::Bytes bytes_of(const Instance& instance, std::int64_t elements) {
    return elements * core::size_of(instance.collective->type);
  }
  [[nodiscard]] static std::uint64_t order_of(Instance& instance, std::int32_t lane);
  static void assign_event_order(Instance& instance);
  /// Returns the devices of all `ranks` except `but`, in order.
  static std::vector<core::PartId> devices_of(const core::Group& group, const core::RankSet& ranks,
                                              core::Rank but);

  [[nodiscard]] static bool leads_to(const Instance& instance, std::int32_t connection,
                                     std::int32_t to, std::int32_t away);
  std::int32_t connection(Instance& instance, std::int32_t from, std::int32_t to,
                          std::int32_t away) const;
  std::int32_t find_path(const Instance& instance, const Connection& connection);
  [[nodiscard]] static core::PartId device_of(const Instance& instance, core::Rank rank) {
    return instance.collective->group.device(rank);
  }

  Network& network_;
  Devices& devices_;
  EventQueue& events_;
  bool watch_steps_;
  Ties* ties_ = nullptr;
  std::vector<std::unique_ptr<Instance>> instances_;
  /// Free instance numbers. The lowest number is used first, so that a training step that begins
  /// with no collective in flight uses the same numbers as the previous step (Repetition).
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free_instances_;
  std::uint64_t serial_ = 0;
  std::int64_t steps_executed_ = 0;
};

}  // namespace tutti::sim
