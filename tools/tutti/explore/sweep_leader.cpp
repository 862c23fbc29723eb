// Rank 0 of a sweep: assigns points to its own threads and to the connections of other ranks, and
// takes their results. sweep_ranks.h has the protocol. The main thread runs look() in a loop, which
// handles everything that has arrived; only `queue_` and `done_` are shared with other threads.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "real/wire/protocol.h"
#include "real/worker/patience.h"
#include "tools/tutti/command.h"
#include "tools/tutti/explore/sweep_line.h"
#include "tools/tutti/explore/sweep_ranks.h"

namespace tutti::tools {
namespace {

using core::Error;
using core::Expected;
using core::Outcome;
using Clock = std::chrono::steady_clock;
using State = real::Handshake::State;

/// After all points are done, rank 0 waits for this time for ranks that join late, to tell them
/// that the sweep is complete.
constexpr auto kLateJoinTimeout = std::chrono::seconds(10);

/// A connection of another rank.
struct Helper {
  explicit Helper(real::Connection connection) : line(std::move(connection)) {}
  TextLine line;
  int rank = -1;                      ///< number of the rank; -1: it has not sent "hello"
  std::optional<std::int64_t> point;  ///< the point that the connection's thread is executing
  Clock::time_point heard = Clock::now();
  bool gone = false;
};

class Leader {
 public:
  Leader(PartInRun& part, const SharedSweep& sweep, const std::vector<std::int64_t>& points,
         const std::function<bool(std::int64_t, const Outcome&)>& take)
      : part_(part),
        sweep_(sweep),
        take_(take),
        silence_(real::longest_silence(sweep.timeout)),
        left_(points.size()),
        queue_(points.begin(), points.end()) {}

  Expected<bool> run() {
    auto listener = real::Listener::open(part_.gathering.listen);
    if (!listener) return failed(listener);
    real::RunId id{};
    real::fill_random(id.data(), id.size());
    listener_.emplace(std::move(*listener));
    if (part_.gathering.announce) {
      if (const auto announced = part_.gathering.announce(listener_->address()); !announced)
        return failed(announced);
    }
    real::Reception::Options options;
    options.secret = part_.gathering.secret;
    options.self = {real::Purpose::kControl, real::kAnyWorker, real::kCoordinator,
                    std::string(real::protocol())};
    options.run = id;
    options.tls = part_.gathering.tls;
    real::Reception reception(options, &*listener_);
    {
      std::vector<std::jthread> threads;
      const int started = start_threads(threads, sweep_.threads, [this] {
        try {
          work_here();
        } catch (...) {  // an exception that leaves a thread would end the process
          const std::lock_guard lock(mutex_);
          thrown_ = std::current_exception();
          stop_.store(true);
        }
      });
      if (started == 0 && sweep_.threads > 0) return no_threads();
      while (left_ > 0 && !stop_.load()) look(reception);
      {
        const std::lock_guard lock(mutex_);
        over_ = true;
      }
      stop_.store(stop_.load() || left_ > 0);
      changed_.notify_all();
    }
    if (thrown_) std::rethrow_exception(thrown_);
    // Notify all ranks of the end, including ranks that join late. A rank that could not connect
    // would fail, and the launcher would then kill all other ranks.
    const auto until = Clock::now() + kLateJoinTimeout;
    const auto missing = [&] {
      return std::ssize(lines_to_come_) < part_.gathering.ranks - 1 || !helpers_.empty();
    };
    while (!stop_.load() && missing() && Clock::now() < until && !sweep_.stop()) look(reception);
    if (part_.gathering.met) part_.gathering.met();
    return left_ == 0;
  }

 private:
  /// Returns the next point for a thread of this process or for a connection.
  std::optional<std::int64_t> next() {
    if (queue_.empty()) return std::nullopt;
    const std::int64_t point = queue_.front();
    queue_.pop_front();
    return point;
  }

  void work_here() {
    for (;;) {
      std::int64_t point = 0;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return over_ || !queue_.empty(); });
        if (over_) return;
        point = *next();
      }
      auto outcome = sweep_.work(point, stop_);
      if (!outcome) return;
      const std::lock_guard lock(mutex_);
      done_.emplace_back(point, std::move(*outcome));
    }
  }

  void look(real::Reception& reception) {
    std::vector<int> files;
    for (const auto& helper : helpers_) files.push_back(helper->line.file());
    for (real::Reception::Event& event : reception.wait(Clock::now() + kPollInterval, files)) {
      if (event.state != State::kDone) continue;
      helpers_.push_back(std::make_unique<Helper>(std::move(event.connection)));
    }
    for (const auto& helper : helpers_) read_from(*helper);
    close_when_all_have_met(reception);
    for (const auto& helper : helpers_) drop_if_silent(*helper);
    for (const auto& helper : helpers_) send_points_to(*helper);
    send_heartbeats();
    for (const auto& helper : helpers_) {
      if (helper->gone && helper->point) give_back(*helper);
    }
    std::erase_if(helpers_, [](const auto& helper) { return helper->gone; });
    std::deque<std::pair<std::int64_t, Outcome>> here;
    {
      const std::lock_guard lock(mutex_);
      here.swap(done_);
    }
    for (const auto& [point, outcome] : here) accept(point, outcome);
    if (sweep_.stop()) stop_.store(true);
  }

  void read_from(Helper& helper) {
    const bool there = helper.line.read_some();
    for (;;) {
      const auto message = helper.line.next();
      if (!message || (!*message && !there)) helper.gone = true;
      if (!message || !*message || helper.gone) return;
      helper.heard = Clock::now();
      if (**message == "alive") continue;
      if (helper.rank < 0) {
        greet(helper, **message);
        continue;
      }
      const auto point = number_behind(**message, "done ");
      const std::size_t line = (*message)->find('\n');
      const auto outcome = line == std::string_view::npos
                               ? std::nullopt
                               : core::outcome_from_text((*message)->substr(line + 1));
      if (!point || point != helper.point || !outcome) {
        helper.gone = true;
        return;
      }
      helper.point.reset();
      accept(*point, *outcome);
    }
  }

  void greet(Helper& helper, std::string_view message) {
    const auto rank = number_behind(message, "hello ");
    const auto lines =
        rank ? number_behind(message, fmt::format("hello {} ", *rank)) : std::nullopt;
    const int ranks = part_.gathering.ranks;
    if (!rank || !lines || *lines < 1 || *rank < 1 || (ranks > 0 && *rank >= ranks)) {
      helper.gone = true;
    } else if (!message.ends_with(" " + sweep_digest(sweep_.identity))) {
      helper.line.send(
          "no the scenario, settings or version of this rank differ from those of rank 0");
      helper.gone = true;
    } else {
      helper.rank = static_cast<int>(*rank);
      --lines_to_come_.try_emplace(helper.rank, *lines).first->second;
    }
  }

  /// Closes the listener when every connection of every rank has said hello. The number of ranks is
  /// known if a launcher has started them.
  void close_when_all_have_met(real::Reception& reception) {
    const bool all = part_.gathering.ranks > 0 &&
                     std::ssize(lines_to_come_) == part_.gathering.ranks - 1 &&
                     std::all_of(lines_to_come_.begin(), lines_to_come_.end(),
                                 [](const auto& rank) { return rank.second <= 0; });
    if (!listener_ || !all) return;
    reception.stop_listening();
    listener_.reset();
    if (part_.gathering.met) part_.gathering.met();
  }

  /// Drops a rank that is silent for too long. REQUIRES: all received messages have been handled.
  void drop_if_silent(Helper& helper) {
    if (helper.gone || Clock::now() - helper.heard < silence_) return;
    helper.line.send_word("late");
    helper.gone = true;
    if (helper.rank < 0 || !silent_.insert(helper.rank).second) return;
    print_note(fmt::format(
        "tutti: rank {} has not been heard from for {:.3g} s; other ranks simulate its points\n",
        helper.rank, std::chrono::duration<double>(silence_).count()));
  }

  /// Sends "alive" to the ranks that wait for a point.
  void send_heartbeats() {
    if (Clock::now() - reported_alive_ < kHeartbeatInterval) return;
    reported_alive_ = Clock::now();
    for (const auto& helper : helpers_) {
      if (!helper->gone && helper->rank >= 0 && !helper->point) helper->line.send_word("alive");
    }
  }

  /// Assigns a point to an idle connection, or ends the connection if all points are done. If other
  /// connections are executing the last points, keep the idle connection waiting, because one of
  /// the others may fail.
  void send_points_to(Helper& helper) {
    if (helper.gone || helper.rank < 0 || helper.point) return;
    if (left_ == 0) {
      helper.line.send("end");
      helper.gone = true;
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      helper.point = next();
    }
    if (helper.point && !helper.line.send(fmt::format("point {}", *helper.point)))
      helper.gone = true;
  }

  void give_back(Helper& helper) {
    const std::lock_guard lock(mutex_);
    queue_.push_front(*helper.point);
    helper.point.reset();
    changed_.notify_one();
  }

  void accept(std::int64_t point, const Outcome& outcome) {
    if (stop_.load() || left_ == 0) return;
    if (!take_(point, outcome)) {
      stop_.store(true);
      return;
    }
    --left_;
  }

  PartInRun& part_;
  const SharedSweep& sweep_;
  const std::function<bool(std::int64_t, const Outcome&)>& take_;
  Clock::duration silence_;  ///< time of silence after which a rank has failed
  Clock::time_point reported_alive_;
  std::set<int> silent_;  ///< ranks that were silent for too long
  std::size_t left_;
  std::vector<std::unique_ptr<Helper>> helpers_;
  std::optional<real::Listener> listener_;  ///< open until all ranks have joined
  /// For each rank that has joined, the number of its connections that have not sent "hello" yet.
  std::map<int, std::int64_t> lines_to_come_;
  std::atomic<bool> stop_{false};

  std::mutex mutex_;  ///< guards the following members
  std::condition_variable changed_;
  std::deque<std::int64_t> queue_;
  std::deque<std::pair<std::int64_t, Outcome>> done_;  ///< points done by this process
  bool over_ = false;
  std::exception_ptr thrown_;  ///< exception of a thread of this process
};

}  // namespace

Expected<bool> lead_sweep(PartInRun& part, const SharedSweep& sweep,
                          const std::vector<std::int64_t>& points,
                          const std::function<bool(std::int64_t, const Outcome&)>& take) {
  return Leader(part, sweep, points, take).run();
}

}  // namespace tutti::tools
