// The protocol between rank 0 and the other ranks: over connections whose handshake is done
// (real/join), texts with a length and an authentication code (real/wire/frame.h).
//
//     another rank                        rank 0
//       "hello RANK LINES DIGEST" ──▶
//                               ◀──       "point N", "end", or "no WHY"
//       "done N\n" + outcome    ──▶
//                               ◀──       "point N", …
//
// A rank has a connection for each of its threads; each processes one point at a time. LINES is the
// number of connections of the rank. When the last connection of the last rank has said hello, rank
// 0 closes its listener. Twice a second, the main thread of every rank sends "alive" on all
// connections of the rank. Rank 0 sends "alive" to the connections that wait for a point. If a
// connection ends without a result, or is silent for too long, its point is assigned again. Rank 0
// sends "late" before it closes a silent connection. A rank that was suspended and resumes then
// knows that other ranks have its points, and that its results are rejected.

#include "tools/tutti/explore/sweep_ranks.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <system_error>
#include <thread>

#include "real/join/meeting.h"
#include "real/process/system_limits.h"
#include "real/wire/digest.h"
#include "real/wire/frame.h"
#include "real/wire/protocol.h"
#include "real/worker/patience.h"
#include "tools/tutti/command.h"

namespace tutti::tools {
namespace {

using core::Error;
using core::Expected;
using core::Outcome;
using Clock = std::chrono::steady_clock;
using State = real::Handshake::State;

/// The maximum length of a message in bytes. The longest message is an outcome with a long error
/// text.
constexpr std::size_t kLongest = std::size_t{1} << 20;
/// The maximum number of bytes that are read from one connection before its messages are processed.
constexpr std::size_t kMaxPerRead = std::size_t{1} << 20;
constexpr auto kLook = std::chrono::milliseconds(20);
constexpr auto kHeartbeatInterval = std::chrono::milliseconds(500);
/// After all points are done, rank 0 waits for this time for ranks that join late, in order to end
/// them.
constexpr auto kLateJoinTimeout = std::chrono::seconds(10);

/// One end of a connection between rank 0 and another rank.
class TextLine {
 public:
  explicit TextLine(real::Connection connection)
      : connection_(std::move(connection)),
        writer_(connection_.keys().send),
        reader_(kLongest, connection_.keys().receive) {}

  [[nodiscard]] int file() const { return connection_.file(); }

  /// Sends a text. Returns false if the other side is gone. Messages are short, so the connection
  /// accepts them at once.
  bool send(std::string_view text) {
    const std::string message = writer_.framed(text);
    std::size_t sent = 0;
    while (sent < message.size()) {
      const ssize_t n = connection_.send(message.data() + sent, message.size() - sent);
      if (n > 0) {
        sent += static_cast<std::size_t>(n);
      } else if (errno == EAGAIN || errno == EINTR) {
        pollfd entry{file(), POLLOUT, 0};
        if (::poll(&entry, 1, 10'000) == 0) return false;
      } else {
        return false;
      }
    }
    return true;
  }

  /// Sends a word if the connection accepts data at the moment; otherwise drops the word.
  void send_word(std::string_view word) {
    pollfd entry{file(), POLLOUT, 0};
    if (::poll(&entry, 1, 0) == 1 && (entry.revents & POLLOUT) != 0) send(word);
  }

  /// Reads data that has arrived, without waiting, and at most kMaxPerRead bytes, since the other
  /// side may send faster than this side reads. Returns false if the other side has closed the
  /// connection.
  bool read_some() {
    char buffer[16384];
    for (std::size_t taken = 0; taken < kMaxPerRead;) {
      const ssize_t n = connection_.receive(buffer, sizeof buffer);
      if (n <= 0) return n < 0 && (errno == EAGAIN || errno == EINTR);
      reader_.take({buffer, static_cast<std::size_t>(n)});
      taken += static_cast<std::size_t>(n);
    }
    return true;
  }

  /// Returns the next text that has arrived, as real::FrameReader::next().
  auto next() { return reader_.next(); }

 private:
  real::Connection connection_;
  real::FrameWriter writer_;
  real::FrameReader reader_;
};

/// Returns the number that follows `word` in a message such as "point 12"; nullopt if the message
/// has another form.
std::optional<std::int64_t> number_behind(std::string_view text, std::string_view word) {
  if (!text.starts_with(word)) return std::nullopt;
  text.remove_prefix(word.size());
  std::int64_t number = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc() || (stop != text.data() + text.size() && *stop != '\n' && *stop != ' '))
    return std::nullopt;
  return number;
}

/// Starts up to `count` threads and returns the number that the system allowed.
template <class Work>
int start_threads(std::vector<std::jthread>& threads, int count, const Work& work) {
  int started = 0;
  try {
    for (; started < count; ++started) threads.emplace_back(work);
  } catch (const std::system_error&) {  // ulimit -u
  }
  return started;
}

tl::unexpected<Error> no_threads() {
  return tl::make_unexpected(Error::run(
      {core::ProblemCode::kSystem}, "no thread can be started here" + real::remedy_for(EAGAIN)));
}

// --- rank 0 ---

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
      const int started = start_threads(threads, sweep_.threads, [this] { work_here(); });
      if (started == 0 && sweep_.threads > 0) return no_threads();
      while (left_ > 0 && !stop_.load()) look(reception);
      {
        const std::lock_guard lock(mutex_);
        over_ = true;
      }
      stop_.store(stop_.load() || left_ > 0);
      changed_.notify_all();
    }
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
    for (real::Reception::Event& event : reception.wait(Clock::now() + kLook, files)) {
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
      helper.line.send("no its scenario, settings or version differ from those of rank 0");
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
    tell(fmt::format(
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
  /// By rank that has joined: the number of its connections that have not said hello yet.
  std::map<int, std::int64_t> lines_to_come_;
  std::atomic<bool> stop_{false};

  std::mutex mutex_;  ///< guards the following members
  std::condition_variable changed_;
  std::deque<std::int64_t> queue_;
  std::deque<std::pair<std::int64_t, Outcome>> done_;  ///< points done by this process
  bool over_ = false;
};

// --- the others ---

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
      // Skip a connection on which a message is being sent, because it does not need an "alive".
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
      return last_word();
    for (Clock::time_point heard = Clock::now();;) {
      pollfd file{line_.text.file(), POLLIN, 0};
      ::poll(&file, 1, static_cast<int>(kLook.count()));
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
      if (!line_.send(fmt::format("done {}\n{}", *point, to_text(*outcome)))) return last_word();
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
  Expected<End> last_word() {
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
  return tl::make_unexpected(Error::run({core::ProblemCode::kSystem},
                                        "there is not enough memory to help with the sweep"));
}

}  // namespace

std::string sweep_digest(const std::string& identity) {
  std::string text;
  for (const std::byte byte : real::hmac_sha256("tutti sweep 3", identity))
    text += fmt::format("{:02x}", static_cast<int>(byte));
  return text;
}

Expected<bool> lead_sweep(PartInRun& part, const SharedSweep& sweep,
                          const std::vector<std::int64_t>& points,
                          const std::function<bool(std::int64_t, const Outcome&)>& take) {
  return Leader(part, sweep, points, take).run();
}

Expected<bool> help_sweep(const PartInRun& part, const SharedSweep& sweep) {
  std::atomic<bool> stop{false};
  std::atomic<int> running{sweep.threads};
  std::mutex mutex;
  std::optional<Error> failed;
  bool all = true, late = false;
  Lines lines;
  {
    // Each thread reports the number of threads to rank 0, so it waits until all have started.
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
    for (Clock::time_point said; running.load() > 0;) {
      if (sweep.stop()) stop.store(true);
      if (Clock::now() - said >= kHeartbeatInterval) {
        said = Clock::now();
        lines.send_heartbeats();
      }
      std::this_thread::sleep_for(kLook);
    }
  }
  if (failed) return tl::make_unexpected(*failed);
  if (late) tell("tutti: this rank was silent for too long; rank 0 has reassigned its points\n");
  return all;
}

}  // namespace tutti::tools
