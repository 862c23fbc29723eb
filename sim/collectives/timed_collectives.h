#pragma once

// NCCL collectives whose duration is predicted as a whole (core/nccl/collective_time.h) instead of
// being simulated message by message (decision 33).
//
// Such a collective begins when its last rank arrives. After the time `delay`, the data moves in n
// equal pieces. Each piece takes 1/n of the predicted `work`, and occupies every link on the route
// for 1/n of the time that the whole collective needs the link. If a link is busy with other
// traffic, the piece, and therefore the whole collective, waits for the link. The ranks of a real
// ring or tree wait for their neighbours in the same way. A collective without competing traffic
// therefore takes exactly the predicted time. Two collectives that each need the full bandwidth of
// a link use the link alternately, piece by piece. All ranks complete at the same time. In
// collectives with NCCL inside workers (staged_collectives.h), each worker's part is one such
// collective.

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
  /// `interpreter` assigns serial numbers to opened collectives; simultaneous events are ordered by
  /// these numbers.
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
  /// worker. All ranks have arrived when the collective is opened; a single call of start(), for
  /// the last rank, begins the collective. Simultaneous events are ordered by `serial`, which is
  /// the number of the part, and then by worker.
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
    std::int32_t worker = -1;  ///< the argument of open_inside(); -1: the collective was opened by
                               ///< open()
    std::uint64_t serial = 0;
    std::uint64_t events = 0;          ///< number of events that this collective has added to the
                                       ///< event queue
    core::Rank waits_for = 0;          ///< number of ranks that have not arrived
    core::Rank last = 0;               ///< the rank that arrived last
    core::Time began;                  ///< time at which the last rank arrived
    std::vector<Network::Hold> holds;  ///< by link: the time for which each piece occupies the link
    core::LinkId busiest = -1;
    std::int64_t all_pieces = 1;
    std::int64_t piece = -1;  ///< index of the current piece; -1: none yet
    core::Time piece_began;
    core::Time piece_ends;  ///< earliest end of the current piece
    std::size_t held = 0;   ///< number of links that the current piece occupies
    core::LinkId queued_at = -1;
    core::Time queued;  ///< longest time that a piece waited for a link
  };

  struct KnownLinks {
    std::weak_ptr<const core::Schedule> of;
    std::shared_ptr<const core::NcclLinks> links;
    bool all_expected = false;  ///< true: the network expects holds of all these links
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
  [[nodiscard]] static Network::Hold of_piece(const Job& job, Network::Hold hold);
  [[nodiscard]] bool is_whole(const Job& job, core::Time now) const;
  void move_in_memory(const Job& job, core::Time now);
  void hold_multiprocessors(const Job& job, core::Rank rank, int change, core::Time now);
  void finish(Job& job, core::Time now);

  Interpreter& interpreter_;
  Network& network_;
  Devices& devices_;
  EventQueue& events_;
  /// The links that the data of a collective uses. The key has two parts: the address of the
  /// schedule, which many collectives share (inside a worker, the address of the schedule of its
  /// routes), and the number of the group or worker. A new schedule may have the same address as a
  /// deleted schedule, so `of` is checked.
  std::map<std::pair<const core::Schedule*, std::int64_t>, KnownLinks> links_;
  /// The links of the last collective. The links are kept because consecutive collectives often use
  /// the same links.
  std::shared_ptr<const core::NcclLinks> last_links_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Job>> jobs_;
  /// Free instance numbers. The lowest free number is used first, so that a training step that
  /// begins with no collective in flight uses the same numbers as the previous step (Repetition).
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free_;
  std::uint32_t instances_ = 0;
  std::int64_t pieces_ = 0;
};

}  // namespace tutti::sim
