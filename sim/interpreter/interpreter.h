#pragma once

// All lanes of a collective are numbered consecutively, rank by rank, and the states of lanes are
// in arrays with this number as the index. Data that only some runs need (causal chains, data for
// records of steps) is in separate arrays, which are empty in all other runs. Connections are
// created on first use, because most lanes use only one of their possible connections in each
// direction. A blocked lane has exactly one reason (Blocked), and the event that removes the reason
// continues the lane. A lane can be blocked because a message has not arrived, because no slot
// (buffer for one message) of a connection is free, because another lane must make progress first,
// or because a message has not left its buffer.
//
// The class is implemented in four files: interpreter.cpp executes steps, instances.cpp opens and
// closes collectives, sharing.cpp slows down computation on the same devices, and
// interpreter_state.cpp visits the state for rounds.h. Class Network determines when messages
// arrive.

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
/// A lane may run ahead of the clock if other components cannot observe this. For example, suppose
/// that a lane has sent a message and its next step receives a message that has not arrived. The
/// lane then continues before its send buffer is free. A step of a ring therefore needs only one
/// event.
class Interpreter final : public CollectiveEngine {
 public:
  Interpreter(Network& network, Devices& devices, EventQueue& events, bool watch_steps)
      : network_(network), devices_(devices), events_(events), watch_steps_(watch_steps) {
    TUTTI_CHECK(!watch_steps || network.keeps_causal_chains(),
                "steps are observed, but the network keeps no causal chains");
  }

  /// From now on, reports to `ties` each resource that an event requests (sim/folding/ties.h).
  void watch(Ties& ties) { ties_ = &ties; }

  /// The limit on the number of lanes of one collective, summed over all its ranks.
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

  /// A lane whose next steps are identical. The lane belongs to the only collective in flight. The
  /// class Rounds observes this lane to decide when to compare states.
  struct Pace {
    std::uint32_t instance = 0;
    std::uint64_t serial = 0;
    std::uint64_t opened = 0;  ///< number of collectives that had been opened when find_pace() was
                               ///< called
    std::size_t lane = 0;
    std::int64_t lanes = 0;  ///< number of lanes of the collective
    core::IdenticalSteps identical;
  };
  /// Finds the lane with the largest number of identical next steps. Returns nullopt if no lane has
  /// identical steps, if several collectives are in flight, or if the collective has more than
  /// `max_lanes` lanes.
  [[nodiscard]] std::optional<Pace> find_pace(std::int64_t max_lanes) const;
  /// Returns the number of steps that the lane has completed; nullopt if the collective has ended,
  /// or if another collective has been opened since find_pace() was called.
  [[nodiscard]] std::optional<std::int64_t> progress(const Pace& pace) const;
  /// Returns the number of completed steps of each lane of the collective. REQUIRES: the collective
  /// has not ended.
  [[nodiscard]] std::vector<std::int64_t> progress_of_lanes(const Pace& pace) const;
  /// Returns for how many further rounds all lanes will repeat the steps of the last two rounds.
  /// `before` is the progress of the lanes when these two rounds began. REQUIRES: both rounds had
  /// the same number of steps.
  [[nodiscard]] std::int64_t rounds_left(const Pace& pace,
                                         const std::vector<std::int64_t>& before) const;
  /// Visits the complete state of the collective. REQUIRES: the interpreter keeps causal chains.
  void visit_state(const Pace& pace, StateVisitor& visitor);

  /// Returns the next serial number, for a collective that another engine executes. All engines use
  /// the same sequence of serial numbers, because serial numbers determine the order of
  /// simultaneous events.
  std::uint64_t take_serial() { return ++serial_; }

  /// Returns the number of schedule steps that have been executed, including no-ops, over all
  /// instances.
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
  /// kByKernelThatHolds means that the kernel holds a multiprocessor of a device that also
  /// computes.
  enum class Driven : std::uint8_t { kUnknown, kByDevice, kByKernel, kByKernelThatHolds };

  /// The fields of a step that are needed to execute it.
  struct StepFields {
    core::StepKind kind = core::StepKind::kNop;
    bool accumulate = false;
    std::int32_t inputs = 0;
    core::Lane wait_lane = -1;
    std::int32_t from = kNone;  ///< the lane whose message this step receives, as an index in
                                ///< Instance::lanes
    std::int32_t to = kNone;
    std::int32_t from_away = 0;  ///< distance to the sender's worker (Peer::away)
    std::int32_t to_away = 0;
    std::int64_t wait_count = 0;
    core::Bytes source;
    core::Bytes target;
  };

  /// The state of a lane. The struct is as large as two cache lines, so that the lanes of a
  /// collective over thousands of ranks fit into the second-level cache.
  struct alignas(64) LaneState {
    core::Rank rank = 0;
    core::Lane lane = 0;
    std::int64_t next = 0;
    std::int64_t steps = 0;
    core::Time ready;  ///< the lane's own clock: the end of its previous step
    StepFields step;
    bool step_known = false;  ///< true if `step` describes the next step
    Blocked blocked = Blocked::kNotStarted;
    Phase phase = Phase::kFresh;
    Receiving receiving = Receiving::kUnknown;
    bool awaited = false;  ///< true if other lanes wait for this lane (see Waiting)
    Driven driven = Driven::kUnknown;
    std::uint16_t sent = 0;  ///< number of sent messages modulo 2^16, which determines the order of
                             ///< simultaneous messages
    Devices::Id device = kNone;  ///< kNone until the lane first uses the device
    std::int32_t held_connection =
        kNone;  ///< the connection of which the current step occupies a slot
    /// The connection that the lane last used in each direction. Most lanes use only one connection
    /// in each direction.
    std::int32_t last_in = kNone;
    std::int32_t last_out = kNone;
    /// For a lane that receives messages in the order of their arrival: its index in
    /// Instance::arrivals.
    std::int32_t arrivals = kNone;
    std::uint32_t turn = 0;  ///< the lane's position in the order of simultaneous events
  };
  static_assert(sizeof(LaneState) == 128);

  /// The connections on which messages have arrived, in the order of arrival. The first `taken`
  /// messages have been received.
  struct Arrivals {
    std::vector<std::int32_t> connections;
    std::size_t taken = 0;
  };

  /// State of a lane for waits between lanes of the same rank.
  struct Waiting {
    /// The first lane in the linked list of lanes that wait for this lane's progress.
    std::int32_t first_waiter = kNone;
    std::int32_t next_waiter = kNone;
    std::int64_t wake_at = 0;  ///< number of completed steps at which this lane must wake a waiting
                               ///< lane
    /// If the lane is blocked with kOnLane: the number of steps that the awaited lane must have
    /// completed.
    std::int64_t awaited_steps = 0;
  };

  /// Data for the record (StepDone) of the lane's current step.
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
    std::int32_t arrived = 0;   ///< number of messages that have arrived but have not been received
    std::int32_t occupied = 0;  ///< number of slots in use; each sent message uses a slot until the
                                ///< receiver frees it
    std::int32_t blocked_sender = kNone;
  };

  /// The key of a connection: the sending and the receiving lane, and the distance between their
  /// workers.
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

  /// For each message of a connection, the index of the step that sent it. Messages are in the
  /// order of sending; the first `taken` of them have been received.
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
    /// For each rank, the index of its first lane. The last entry is the number of all lanes.
    std::vector<std::int32_t> first_lane;
    std::vector<LaneState> lanes;
    std::vector<Waiting> waiting;            ///< by lane
    std::vector<Watched> watched;            ///< one entry per lane; empty unless steps are
                                             ///< recorded
    std::vector<CausalChain> causal_chains;  ///< one entry per lane; empty unless causal chains are
                                             ///< kept
    std::vector<std::int32_t> lanes_left;    ///< for each rank, the number of its lanes that have
                                             ///< not completed
    std::vector<Connection> connections;
    std::vector<SenderSteps> sender_steps;  ///< one entry per connection; empty unless steps are
                                            ///< recorded
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
  void report_step(Instance& instance, std::int32_t lane, core::Time end);
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
  /// Returns the devices of all ranks in `ranks` except `but`, in the order of ranks.
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
  /// Free instance numbers, of which the lowest is used first (see CollectiveEngine).
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free_instances_;
  std::uint64_t serial_ = 0;
  std::int64_t steps_executed_ = 0;
};

}  // namespace tutti::sim
