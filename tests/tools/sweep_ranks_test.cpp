// Ranks of a shared sweep that die, fall silent or continue too late. The other ranks must complete
// the sweep, and each point must have exactly one result.

#include "tools/tutti/explore/sweep_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <poll.h>
#include <sys/socket.h>

#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#include "real/join/meeting.h"
#include "real/wire/frame.h"
#include "real/wire/protocol.h"

namespace tutti::tools {
namespace {

using core::Outcome;
using testing::HasSubstr;

constexpr std::int64_t kPoints = 10;
const std::string kSecret = "0123456789abcdef0123456789abcdef";

/// Returns a result that identifies the rank that evaluated the point.
Outcome done_by(std::int64_t rank) {
  Outcome outcome;
  outcome.packs = rank;
  return outcome;
}

/// The silence timeout is at least three seconds.
SharedSweep shared(
    std::function<std::optional<Outcome>(std::int64_t, const std::atomic<bool>&)> work) {
  SharedSweep sweep;
  sweep.identity = "sweep";
  sweep.threads = 1;
  sweep.work = std::move(work);
  sweep.stop = [] { return false; };
  sweep.points = kPoints;
  sweep.timeout = std::chrono::seconds(1);
  return sweep;
}

using TlsSettings = std::shared_ptr<const real::TlsContext>;

PartInRun part_of_rank(int rank, const real::Address& at, const TlsSettings& tls = nullptr) {
  PartInRun part;
  part.gathering.tls = tls;
  part.coordinates = false;
  part.where = [at] { return std::optional(real::Appointment{at, kSecret}); };
  part.launch.emplace();
  part.launch->rank = rank;
  return part;
}

/// Rank 0 without threads of its own, so that the other ranks evaluate all points.
class Leader {
 public:
  explicit Leader(int ranks, const TlsSettings& tls = nullptr) {
    part_.gathering.tls = tls;
    part_.gathering.secret = kSecret;
    part_.gathering.ranks = ranks;
    part_.gathering.announce = [this](const real::Address& at) {
      at_.set_value(at);
      return core::Expected<void>();
    };
    sweep_ = shared({});
    sweep_.threads = 0;
    thread_ = std::jthread([this] { run(); });
  }
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;

  real::Address at() { return at_.get_future().get(); }
  /// Waits for the end of the sweep. Returns the number of results by rank. Each point must have
  /// one result.
  std::map<std::int64_t, int> wait() {
    thread_.join();
    EXPECT_TRUE(all_);
    EXPECT_EQ(outcomes_.size(), static_cast<std::size_t>(kPoints));
    std::map<std::int64_t, int> by_rank;
    for (const auto& [point, outcome] : outcomes_) ++by_rank[outcome.packs];
    return by_rank;
  }

 private:
  void run() {
    std::vector<std::int64_t> points(kPoints);
    std::iota(points.begin(), points.end(), 0);
    const auto all =
        lead_sweep(part_, sweep_, points, [this](std::int64_t point, const Outcome& outcome) {
          EXPECT_TRUE(outcomes_.emplace(point, outcome).second)
              << "point " << point << " came twice";
          return true;
        });
    all_ = all && *all;
  }

  PartInRun part_;
  SharedSweep sweep_;
  std::promise<real::Address> at_;
  std::map<std::int64_t, Outcome> outcomes_;
  bool all_ = false;
  std::jthread thread_;
};

/// A rank that sends the messages of the test.
class FakeRank {
 public:
  FakeRank(int rank, const real::Address& at) {
    const PartInRun part = part_of_rank(rank, at);
    auto found = real::find_coordinator(part.where, real::kAnyWorker,
                                        std::chrono::steady_clock::now() + std::chrono::seconds(30),
                                        [] { return false; });
    EXPECT_TRUE(found);
    connection_ = std::move(found->connection);
    writer_.emplace(connection_.keys().send);
    reader_.emplace(std::size_t{1} << 20, connection_.keys().receive);
    say("hello " + std::to_string(rank) + " 1 " + sweep_digest("sweep"));
  }

  void say(const std::string& text) {
    const std::string message = writer_->framed(text);
    static_cast<void>(connection_.send(message.data(), message.size()));
  }
  /// Returns the next message that is not a heartbeat, or an empty text if rank 0 has closed the
  /// connection.
  std::string hear() {
    for (;;) {
      const auto message = reader_->next();
      if (message && *message && **message != "alive") return std::string(**message);
      if (message && *message) continue;
      pollfd file{connection_.file(), POLLIN, 0};
      if (::poll(&file, 1, 60'000) != 1) return "";
      char bytes[4096];
      const ssize_t got = connection_.receive(bytes, sizeof bytes);
      if (got <= 0) return "";
      reader_->take({bytes, static_cast<std::size_t>(got)});
    }
  }
  /// Sends bytes that are no message until rank 0 closes the connection, at most `limit` bytes.
  /// Returns the number of bytes.
  std::size_t flood(std::size_t limit) {
    const std::string bytes(std::size_t{1} << 20, '\xff');
    std::size_t sent = 0;
    while (sent < limit) {
      const ssize_t n = connection_.send(bytes.data(), bytes.size());
      if (n > 0) {
        sent += static_cast<std::size_t>(n);
        continue;
      }
      if (errno != EAGAIN && errno != EINTR) break;
      pollfd file{connection_.file(), POLLOUT, 0};
      ::poll(&file, 1, 1000);
    }
    return sent;
  }
  void leave() { connection_ = real::Connection(); }

 private:
  real::Connection connection_;
  std::optional<real::FrameWriter> writer_;
  std::optional<real::FrameReader> reader_;
};

std::int64_t number_of(const std::string& message) {
  EXPECT_THAT(message, testing::StartsWith("point "));
  return std::stoll(message.substr(6));
}

TEST(SweepRanks, PointsOfASilentRankGoToOthersAndItsLateResultIsIgnored) {
  Leader leader(3);
  const real::Address at = leader.at();
  FakeRank silent(1, at);
  const std::int64_t given = number_of(silent.hear());
  std::promise<void> woken;
  const std::shared_future<void> awake = woken.get_future().share();
  const SharedSweep sweep = shared([&](std::int64_t point, const std::atomic<bool>&) {
    // The sweep does not end before the silent rank has continued and reported its point.
    if (point == given) awake.wait();
    return std::optional(done_by(2));
  });
  auto helper =
      std::async(std::launch::async, [&] { return help_sweep(part_of_rank(2, at), sweep); });
  EXPECT_EQ(silent.hear(), "late");
  silent.say(fmt::format("done {}\n{}", given, to_text(done_by(1))));
  silent.say("hello 1 1 " + sweep_digest("sweep"));
  woken.set_value();
  const auto helped = helper.get();
  ASSERT_TRUE(helped) << helped.error().message();
  EXPECT_TRUE(*helped);
  EXPECT_EQ(leader.wait(), (std::map<std::int64_t, int>{{2, kPoints}}));
}

TEST(SweepRanks, PointsOfARankThatDiesGoToOthers) {
  Leader leader(3);
  const real::Address at = leader.at();
  FakeRank dying(1, at);
  number_of(dying.hear());
  dying.leave();
  const SharedSweep sweep =
      shared([](std::int64_t, const std::atomic<bool>&) { return std::optional(done_by(2)); });
  const auto helped = help_sweep(part_of_rank(2, at), sweep);
  EXPECT_TRUE(helped && *helped);
  EXPECT_EQ(leader.wait(), (std::map<std::int64_t, int>{{2, kPoints}}));
}

/// Rank 0 looks at the messages of a rank before it has read all that the rank can send.
TEST(SweepRanks, ARankThatSendsTooMuchIsDropped) {
  Leader leader(3);
  const real::Address at = leader.at();
  FakeRank floods(1, at);
  number_of(floods.hear());
  constexpr std::size_t kLimit = std::size_t{256} << 20;
  EXPECT_LT(floods.flood(kLimit), kLimit);
  const SharedSweep sweep =
      shared([](std::int64_t, const std::atomic<bool>&) { return std::optional(done_by(2)); });
  const auto helped = help_sweep(part_of_rank(2, at), sweep);
  EXPECT_TRUE(helped && *helped);
  EXPECT_EQ(leader.wait(), (std::map<std::int64_t, int>{{2, kPoints}}));
}

TEST(SweepRanks, ASweepMayUseTls) {
  const TlsSettings tls = *real::TlsContext::open("secret");
  Leader leader(2, tls);
  const real::Address at = leader.at();
  SharedSweep sweep =
      shared([](std::int64_t, const std::atomic<bool>&) { return std::optional(done_by(1)); });
  const auto refused = help_sweep(part_of_rank(1, at), sweep);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("another setting of --tls"));
  sweep.threads = 3;
  const auto helped = help_sweep(part_of_rank(1, at, tls), sweep);
  EXPECT_TRUE(helped && *helped) << (helped ? "it was to stop" : helped.error().message());
  EXPECT_EQ(leader.wait(), (std::map<std::int64_t, int>{{1, kPoints}}));
}

/// The rank's worker threads are busy and send nothing, but the rank itself sends heartbeats.
TEST(SweepRanks, APointMayTakeLongerThanTheTimeoutForSilence) {
  Leader leader(2);
  const SharedSweep sweep = shared([](std::int64_t point, const std::atomic<bool>&) {
    if (point == 0) std::this_thread::sleep_for(std::chrono::milliseconds(4500));
    return std::optional(done_by(1));
  });
  const auto helped = help_sweep(part_of_rank(1, leader.at()), sweep);
  EXPECT_TRUE(helped && *helped) << (helped ? "it was to stop" : helped.error().message());
  EXPECT_EQ(leader.wait(), (std::map<std::int64_t, int>{{1, kPoints}}));
}

/// The work of the two ranks does not begin before the listener is closed.
TEST(SweepRanks, TheListenerClosesWhenAllRanksHaveMet) {
  Leader leader(3);
  const real::Address at = leader.at();
  const auto listens = [&] {
    auto socket = real::begin_connecting(at);
    if (!socket) return false;
    pollfd entry{socket->get(), POLLOUT, 0};
    ::poll(&entry, 1, 10'000);
    return !real::connecting_failed(*socket);
  };
  EXPECT_TRUE(listens());
  FakeRank one(1, at);
  const std::int64_t first = number_of(one.hear());
  EXPECT_TRUE(listens()) << "rank 2 is missing";
  FakeRank two(2, at);
  const std::int64_t second = number_of(two.hear());
  EXPECT_FALSE(listens());
  const auto work = [](FakeRank& rank, std::int64_t point, int number) {
    for (;;) {
      rank.say(fmt::format("done {}\n{}", point, to_text(done_by(number))));
      const std::string message = rank.hear();
      if (message == "end" || message.empty()) return;
      point = number_of(message);
    }
  };
  std::thread other([&] { work(two, second, 2); });
  work(one, first, 1);
  other.join();
  const std::map<std::int64_t, int> by_rank = leader.wait();
  EXPECT_EQ(by_rank.size(), 2u);
}

/// Acts as rank 0: sends one message to every rank that connects, and keeps the connection open.
core::Expected<bool> help_a_rank_zero_that_says(const std::string& text, int& worked) {
  const auto listener = real::Listener::open({"127.0.0.1", 0});
  EXPECT_TRUE(listener);
  real::RunId id{};
  real::Reception::Options options;
  options.secret = kSecret;
  options.self = {real::Purpose::kControl, real::kAnyWorker, real::kCoordinator,
                  std::string(real::protocol())};
  options.run = id;
  real::Reception reception(options, &*listener);
  const SharedSweep sweep = shared([&worked](std::int64_t, const std::atomic<bool>&) {
    ++worked;
    return std::optional(done_by(1));
  });
  auto helper = std::async(std::launch::async,
                           [&] { return help_sweep(part_of_rank(1, listener->address()), sweep); });
  std::vector<real::Connection> joined;
  while (helper.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    for (real::Reception::Event& event :
         reception.wait(std::chrono::steady_clock::now() + std::chrono::milliseconds(20))) {
      if (event.state != real::Handshake::State::kDone) continue;
      joined.push_back(std::move(event.connection));
      if (text.empty()) continue;
      const std::string message = real::FrameWriter(joined.back().keys().send).framed(text);
      static_cast<void>(joined.back().send(message.data(), message.size()));
    }
  }
  return helper.get();
}

TEST(SweepRanks, RanksDoNotWaitForASilentRank0) {
  int worked = 0;
  const auto helped = help_a_rank_zero_that_says("", worked);
  ASSERT_FALSE(helped);
  EXPECT_THAT(helped.error().message(), HasSubstr("rank 0"));
}

TEST(SweepRanks, RanksRefusePointsThatTheSweepDoesNotHave) {
  for (const char* text : {"point 10", "point -1", "point 9223372036854775807"}) {
    int worked = 0;
    EXPECT_FALSE(help_a_rank_zero_that_says(text, worked)) << text;
    EXPECT_EQ(worked, 0) << text;
  }
}

TEST(SweepRanks, ARankWithAnInvalidNumberGetsNoPoint) {
  Leader leader(2);
  const real::Address at = leader.at();
  for (const int rank : {0, -1, 2, 1'000'000}) EXPECT_EQ(FakeRank(rank, at).hear(), "") << rank;
  const SharedSweep sweep =
      shared([](std::int64_t, const std::atomic<bool>&) { return std::optional(done_by(1)); });
  const auto helped = help_sweep(part_of_rank(1, at), sweep);
  EXPECT_TRUE(helped && *helped);
  EXPECT_EQ(leader.wait(), (std::map<std::int64_t, int>{{1, kPoints}}));
}

}  // namespace
}  // namespace tutti::tools
