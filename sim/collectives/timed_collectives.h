#pragma once

// NCCL collectives that are not simulated message by message. Tutti's time model of NCCL predicts
// the duration of the whole collective instead (core/nccl/collective_time.h, decision 33).
//
// Such a collective begins when its last rank arrives. After the time CollectiveTime::delay, the
// data moves in n equal pieces. Each piece takes 1/n of CollectiveTime::work, the predicted time
// for moving data. A piece occupies each link of the collective for 1/n of the time for which the
// whole collective needs this link. If a link is busy with other traffic, the piece waits for the
// link, and so does the whole collective. The same happens in a real ring or tree, whose ranks wait
// for their neighbours. Without competing traffic, a collective therefore takes exactly the
// predicted time. If two collectives need the full bandwidth of the same link, their pieces use the
// link alternately. All ranks complete at the same time. If a collective uses NCCL only inside
// workers (staged_collectives.h), the part of each worker is simulated in this way.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/strategy/nccl_links.h"
#include "sim/device/device.h"
#include "sim/engine/event_queue.h"
#include "sim/interpreter/interpreter.h"
#include "sim/network/network.h"

namespace tutti::sim {

class TimedCollectives final : public CollectiveEngine {
 public:
  /// `interpreter` assigns a serial number to each opened collective. Serial numbers determine the
  /// order of simultaneous events.
  TimedCollectives(Interpreter& interpreter, Network& network, Devices& devices, EventQueue& events)
      : interpreter_(interpreter), network_(network), devices_(devices), events_(events) {}

  /// Returns true if the plan has NCCL's predicted time for the collective.
  [[nodiscard]] bool takes(const core::Collective& collective) const override {
    return collective.nccl != nullptr;
  }
  void expect(const core::Collective& collective, const GoOn& go_on) override;
  std::uint32_t open(const core::Collective& collective, CollectiveListener& listener) override;
  void start(std::uint32_t instance, core::Rank rank, core::Time now) override;
  void close(std::uint32_t instance) override {
    jobs_.erase(instance);
    free_.push(instance);
  }
  /// Handles kTimed and kReleased.
  void handle(const Event& event) override;
  [[nodiscard]] std::int64_t work_done() const override { return pieces_; }
  [[nodiscard]] bool state_is_visited() const override { return jobs_.empty(); }

  /// expect_inside() and open_inside() do the same as expect() and open(), for a collective inside
  /// one worker (core/strategy/collective_parts.h). `collective` is the collective of the first
  /// worker. All ranks must have arrived when the collective is opened. A single call of start(),
  /// for the last rank, begins the collective. `serial` is the serial number of the part.
  /// Simultaneous events are ordered by serial number, and then by worker.
  void expect_inside(const core::Collective& collective, std::int32_t worker);
  std::uint32_t open_inside(const core::Collective& collective, std::int32_t worker,
                            std::uint64_t serial, CollectiveListener& listener);

  /// Returns the number of pieces of a collective with this predicted time.
  static std::int64_t pieces_of(const core::nccl::CollectiveTime& time);

 private:
  struct Job {
    Job(const core::Collective& c, CollectiveListener& l)
        : collective(&c), listener(&l), group(c.group) {}
    std::uint32_t instance = 0;
    const core::Collective* collective;
    CollectiveListener* listener;
    core::Group group;
    std::int32_t worker = -1;  ///< the argument of open_inside(); -1 if the collective was opened
                               ///< by open()
    std::uint64_t serial = 0;
    std::uint64_t events = 0;  ///< number of events that this collective has added to the
                               ///< event queue so far
    core::Rank waits_for = 0;  ///< number of ranks that have not arrived
    core::Rank last = 0;       ///< the rank that arrived last
    core::Time began;          ///< time at which the last rank arrived
    std::vector<Network::Occupation> occupations;  ///< for each link, the total time for which the
                                                   ///< collective occupies it
    core::LinkId busiest = -1;
    std::int64_t all_pieces = 1;
    std::int64_t piece = -1;  ///< index of the current piece; -1 before the first piece
    core::Time piece_began;
    core::Time piece_ends;     ///< earliest time at which the current piece can end
    std::size_t occupied = 0;  ///< number of links that the current piece occupies
    core::LinkId queued_at = -1;
    core::Time queued;  ///< longest time that a piece waited for a link
  };

  struct KnownLinks {
    std::weak_ptr<const core::Schedule> of;
    std::shared_ptr<const core::NcclLinks> links;
    bool all_expected = false;  ///< true if the network was informed that collectives will occupy
                                ///< all these links (Network::expect)
  };

  [[nodiscard]] const core::nccl::CollectiveTime& time_of(const Job& job) const {
    return *job.collective->nccl;
  }
  [[nodiscard]] KnownLinks& known_links(const core::Collective& collective, std::int32_t worker);
  [[nodiscard]] const core::NcclLinks& links_of(const core::Collective& collective,
                                                std::int32_t worker) {
    return *known_links(collective, worker).links;
  }
  std::uint32_t add(std::unique_ptr<Job> job);
  [[nodiscard]] static std::uint64_t order_of(Job& job);
  void go_on(const Event& event);
  void released(const Event& event);
  void expect_piece(Job& job, core::Time at);
  void begin_piece(Job& job, core::Time now);
  void waited(Job& job, core::LinkId link, core::Time until);
  [[nodiscard]] static Network::Occupation of_piece(const Job& job, Network::Occupation use);
  [[nodiscard]] bool is_whole(const Job& job, core::Time now) const;
  void move_in_memory(const Job& job, core::Time now);
  void hold_multiprocessors(const Job& job, core::Rank rank, int change, core::Time now);
  void finish(Job& job, core::Time now);

  Interpreter& interpreter_;
  Network& network_;
  Devices& devices_;
  EventQueue& events_;
  /// The links that the data of a collective uses. The key consists of the address of a schedule
  /// (many collectives share one schedule) and the number of the group or worker. For a collective
  /// inside a worker, the schedule is Collective::nccl_ways, whose routes determine the links. A
  /// new schedule may have the same address as a deleted schedule, so `of` is checked.
  std::map<std::pair<const core::Schedule*, std::int64_t>, KnownLinks> links_;
  /// The links of the last collective. Consecutive collectives often use the same links.
  std::shared_ptr<const core::NcclLinks> last_links_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Job>> jobs_;
  /// Free instance numbers. The lowest free number is used first, so that a training step that
  /// begins with no collective in flight uses the same numbers as the previous step (Repetition).
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free_;
  std::uint32_t instances_ = 0;
  std::int64_t pieces_ = 0;
};

}  // namespace tutti::sim
