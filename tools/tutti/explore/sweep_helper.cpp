// A rank of a sweep other than rank 0: each of its threads has a connection to rank 0, on which it
// receives points and sends their results. sweep_ranks.h has the protocol. The main thread sends
// "alive" on all connections, so that a thread can work on one point for a long time.

#include <poll.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "real/worker/patience.h"
#include "tools/tutti/command.h"
#include "tools/tutti/explore/sweep_line.h"
#include "tools/tutti/explore/sweep_ranks.h"

namespace tutti::tools {
namespace {

using core::Error;
using core::Expected;
using Clock = std::chrono::steady_clock;

/// A connection to rank 0. The connection's thread sends and reads messages. The main thread sends
/// "alive".
struct Line {
  explicit Line(real::Connection connection) : text(std::move(connection)) {}
  TextLine text;
  std::mutex sending;

  bool send(std::string_view message) {
    const std::lock_guard lock(sending);
    return text.send(message);
  }
};

/// The connections from this process to rank 0.
class Lines {
 public:
  void add(Line& line) {
    const std::lock_guard lock(mutex_);
    lines_.insert(&line);
  }
  void remove(Line& line) {
    const std::lock_guard lock(mutex_);
    lines_.erase(&line);
  }
  void send_heartbeats() {
    const std::lock_guard lock(mutex_);
    for (Line* line : lines_) {
      // Skip connections on which a message is being sent, because these connections need no
      // "alive".
      const std::unique_lock sending(line->sending, std::try_to_lock);
      if (sending) line->text.send_word("alive");
    }
  }

 private:
  std::mutex mutex_;
  std::set<Line*> lines_;
};

/// The reason why a connection ended.
enum class End {
  kDone,     ///< the rank ended because there are no more points
  kStopped,  ///< the rank ended because it was requested to stop
  kLate,     ///< the rank ended because rank 0 considers it failed
};

/// The loop of one connection's thread, beginning with the greeting.
class Help {
 public:
  Help(const SharedSweep& sweep, Lines& lines, real::Connection connection,
       const std::atomic<bool>& stop)
      : sweep_(sweep), lines_(lines), stop_(stop), line_(std::move(connection)) {
    lines_.add(line_);
  }
  ~Help() { lines_.remove(line_); }
  Help(const Help&) = delete;
  Help& operator=(const Help&) = delete;

  /// `lines`: the number of connections of this rank.
  Expected<End> work(int rank, int lines) {
    const Clock::duration silence = real::longest_silence(sweep_.timeout);
    if (!line_.send(fmt::format("hello {} {} {}", rank, lines, sweep_digest(sweep_.identity))))
      return reason_for_end();
    for (Clock::time_point heard = Clock::now();;) {
      pollfd file{line_.text.file(), POLLIN, 0};
      ::poll(&file, 1, static_cast<int>(kPollInterval.count()));
      if (stop_.load()) return End::kStopped;
      const bool there = line_.text.read_some();
      const auto message = line_.text.next();
      if (!message || (!*message && !there)) return gone();
      if (!*message && Clock::now() - heard > silence) {
        return tl::make_unexpected(
            Error::run({core::ProblemCode::kLost, "", 0},
                       fmt::format("rank 0 has not been heard from for {:.3g} s",
                                   std::chrono::duration<double>(silence).count())));
      }
      if (!*message) continue;
      heard = Clock::now();
      if (**message == "alive") continue;
      if (const auto end = end_of(**message)) return *end;
      const auto point = number_behind(**message, "point ");
      if (!point || *point < 0 || *point >= sweep_.points) return gone();
      const auto outcome = sweep_.work(*point, stop_);
      if (!outcome) return End::kStopped;
      if (!line_.send(fmt::format("done {}\n{}", *point, to_text(*outcome))))
        return reason_for_end();
      heard = Clock::now();
    }
  }

 private:
  static Expected<End> gone() {
    return tl::make_unexpected(Error::run({core::ProblemCode::kLost, "", 0},
                                          "rank 0 disconnected before the sweep completed"));
  }

  static std::optional<Expected<End>> end_of(std::string_view message) {
    if (message == "end") return End::kDone;
    if (message == "late") return End::kLate;
    if (message.starts_with("no "))
      return tl::make_unexpected(Error::request(std::string(message.substr(3))));
    return std::nullopt;
  }

  /// If rank 0 has closed the connection, reads the reason that rank 0 sent.
  Expected<End> reason_for_end() {
    static_cast<void>(line_.text.read_some());
    for (;;) {
      const auto message = line_.text.next();
      if (!message || !*message) return gone();
      if (const auto end = end_of(**message)) return *end;
    }
  }

  const SharedSweep& sweep_;
  Lines& lines_;
  const std::atomic<bool>& stop_;
  Line line_;
};

/// `count`: the number of threads of this rank that call this function.
Expected<End> help_on(const PartInRun& part, const SharedSweep& sweep, Lines& lines,
                      const std::atomic<bool>& stop, int count) try {
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(part.wait);
  auto found = real::find_coordinator(
      part.where, real::kAnyWorker, until, [&] { return stop.load(); }, part.gathering.tls);
  if (stop.load()) return End::kStopped;
  if (!found) return failed(found);
  return Help(sweep, lines, std::move(found->connection), stop).work(part.launch->rank, count);
} catch (const std::bad_alloc&) {  // an exception that leaves a thread would end the process
  return tl::make_unexpected(
      Error::run({core::ProblemCode::kSystem},
                 "there is not enough memory on this rank to simulate points of the sweep"));
}

}  // namespace

Expected<bool> help_sweep(const PartInRun& part, const SharedSweep& sweep) {
  std::atomic<bool> stop{false};
  std::atomic<int> running{sweep.threads};
  std::mutex mutex;
  std::optional<Error> failed;
  bool all = true, late = false;
  Lines lines;
  {
    // Each thread reports the number of threads to rank 0, so it first waits until all threads have
    // started.
    std::promise<int> all_started;
    const std::shared_future<int> count = all_started.get_future().share();
    std::vector<std::jthread> threads;
    const int started = start_threads(threads, sweep.threads, [&, count] {
      const auto end = help_on(part, sweep, lines, stop, count.get());
      const std::lock_guard lock(mutex);
      if (!end && !failed) failed = end.error();
      if (!end || *end == End::kStopped) all = false;
      if (end && *end == End::kLate) late = true;
      --running;
    });
    if (started == 0) return no_threads();
    all_started.set_value(started);
    running -= sweep.threads - started;
    for (Clock::time_point last_heartbeat; running.load() > 0;) {
      if (sweep.stop()) stop.store(true);
      if (Clock::now() - last_heartbeat >= kHeartbeatInterval) {
        last_heartbeat = Clock::now();
        lines.send_heartbeats();
      }
      std::this_thread::sleep_for(kPollInterval);
    }
  }
  if (failed) return tl::make_unexpected(*failed);
  if (late)
    print_note("tutti: this rank was silent for too long; rank 0 has reassigned its points\n");
  return all;
}

}  // namespace tutti::tools
