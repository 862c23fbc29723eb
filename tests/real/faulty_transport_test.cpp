// Workers over a transport that goes wrong in one way at one moment, told by a seed: the same seed, the same run. What a
// worker is told must be refused, or lead to an error, or to a run that stands still and says where, or do no harm:
// never to a crash, and never to a wrong result that nobody notices.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>

#include "core/base/random.h"
#include "core/strategy/collective.h"
#include "real/interpreter/interpreter.h"
#include "real/verify.h"
#include "tests/support/clusters.h"

namespace tutti::real {
namespace {

using core::Algorithm;
using core::Rank;

enum class Fault {
  kNone,           ///< only delays: channels overtake each other
  kReplayedPiece,  ///< a piece comes a second time
  kLostPiece,      ///< a piece never comes
  kShorterPiece,   ///< says it is shorter than what was sent
  kLongerMessage,  ///< says that its message is longer
  kWrongOffset,    ///< says it belongs elsewhere in its message
  kOtherChannel,   ///< says it comes from another lane
  kOtherPack,      ///< says it is of a collective that there is not
  kWrongPayload,   ///< one bit is not what was sent
  kReplayedSlot,   ///< a slot is freed twice
  kLostSlot,       ///< a slot is never freed
  kSilence,        ///< from some moment on, one worker sends nothing any more
};
constexpr int kFaults = 12;

/// What is under way between all workers. Each step moves one thing, chosen at random among the oldest of every channel.
class Ether {
 public:
  Ether(Fault fault, std::uint64_t seed, std::uint64_t moment) : fault_(fault), random_(seed), moment_(moment) {}

  struct Item {
    std::int32_t from = 0, to = 0;  ///< workers
    bool slot = false;
    Piece piece;
    std::vector<std::byte> payload;
  };
  std::vector<Receiver*> workers;
  std::string refused;  ///< what a worker did not take
  bool struck = false;  ///< the fault has happened

  void put(Item item) {
    if (silent_ == item.from) return;
    const bool now = !struck && fits(item) && sent_++ >= moment_;
    if (!now || fault_ == Fault::kNone) return queue(std::move(item));
    struck = true;
    Piece& piece = item.piece;
    switch (fault_) {
      case Fault::kReplayedPiece:
      case Fault::kReplayedSlot: queue(item); break;
      case Fault::kLostPiece:
      case Fault::kLostSlot: return;
      case Fault::kSilence: silent_ = item.from; return;
      case Fault::kShorterPiece: piece.length -= 4; break;
      case Fault::kLongerMessage: piece.total += 4; break;
      case Fault::kWrongOffset: piece.offset += 4; break;
      case Fault::kOtherChannel: piece.channel.from_lane += 1; break;
      case Fault::kOtherPack: piece.channel.collective.pack += 1; break;
      case Fault::kWrongPayload: item.payload[random_.below(item.payload.size())] ^= std::byte{64}; break;
      case Fault::kNone: break;
    }
    queue(std::move(item));
  }

  /// Moves something. False if nothing is under way.
  bool step() {
    if (lines_.empty()) return false;
    const std::size_t which = random_.below(lines_.size());
    auto line = std::next(lines_.begin(), static_cast<std::ptrdiff_t>(which));
    Item item = std::move(line->second.front());
    line->second.pop_front();
    if (line->second.empty()) lines_.erase(line);
    Receiver& to = *workers[static_cast<std::size_t>(item.to)];
    if (item.slot) {
      if (!to.slot_freed(item.piece.channel)) refused = "a slot";
      return true;
    }
    std::byte* const place = to.place(item.piece);
    if (!place) {
      refused = "a piece";
      return true;
    }
    item.payload.resize(static_cast<std::size_t>(item.piece.length));
    std::copy(item.payload.begin(), item.payload.end(), place);
    to.arrived(item.piece);
    return true;
  }

 private:
  [[nodiscard]] bool fits(const Item& item) const {
    const bool of_slot = fault_ == Fault::kReplayedSlot || fault_ == Fault::kLostSlot;
    return fault_ == Fault::kSilence || (of_slot ? item.slot : !item.slot && item.piece.length > 4);
  }
  void queue(Item item) {
    const std::pair<Channel, bool> line{item.piece.channel, item.slot};
    lines_[line].push_back(std::move(item));
  }

  Fault fault_;
  core::Random random_;
  std::uint64_t moment_;
  std::uint64_t sent_ = 0;
  std::int32_t silent_ = -1;
  std::map<std::pair<Channel, bool>, std::deque<Item>> lines_;
};

class EtherTransport : public Transport {
 public:
  EtherTransport(Ether& ether, const core::Group& group, std::int32_t worker)
      : ether_(ether), group_(group), worker_(worker) {}
  void connect(Receiver& receiver, Devices&) override { receiver_ = &receiver; }
  bool send(const Piece& piece, const std::byte* payload, Ticket ticket) override {
    ether_.put({worker_, of(piece.channel.to), false, piece, {payload, payload + piece.length}});
    sent_.push_back(ticket);
    return false;
  }
  void free_slot(const Channel& channel) override {
    Piece piece;
    piece.channel = channel;
    ether_.put({worker_, of(channel.from), true, piece, {}});
  }
  core::Expected<void> poll(Clock::time_point) override {
    for (const Ticket ticket : std::exchange(sent_, {})) receiver_->sent(ticket);
    return {};
  }
  [[nodiscard]] bool flushed() const override { return sent_.empty(); }
  [[nodiscard]] bool is_local(Rank) const override { return false; }

 private:
  [[nodiscard]] std::int32_t of(Rank rank) const { return group_.device(rank).worker; }
  Ether& ether_;
  const core::Group& group_;
  std::int32_t worker_;
  Receiver* receiver_ = nullptr;
  std::vector<Ticket> sent_;
};

struct Worker : InterpreterListener {
  Worker(Ether& ether, const core::Collective& collective, std::int32_t worker)
      : transport(ether, collective.group, worker), interpreter(transport, devices, *this, false) {
    transport.connect(interpreter, devices);
    std::vector<std::byte*> buffers;
    for (Rank r = 0; r < collective.schedule->ranks(); ++r) {
      if (collective.group.device(r).worker != worker) continue;
      ranks.push_back(r);
      data.emplace_back(static_cast<std::size_t>(collective.bytes().count()));
      if (r < collective.contributors) fill_inputs(reduced(collective), r, data.back().data(), collective.elements);
    }
    for (auto& buffer : data) buffers.push_back(buffer.data());
    interpreter.open({0, 0}, collective, Operation::kSum, ranks, buffers);
  }
  static Reduced reduced(const core::Collective& collective) {
    return {collective.type, Operation::kSum, 99, static_cast<std::int32_t>(collective.contributors), 1};
  }
  void rank_done(CollectiveTag, Rank) override { ++done; }
  void step_done(const StepDone&) override {}
  [[nodiscard]] bool through() const { return done == ranks.size(); }

  HostDevices devices;
  EtherTransport transport;
  Interpreter interpreter;
  std::vector<Rank> ranks;
  std::vector<std::vector<std::byte>> data;
  std::size_t done = 0;
};

struct End {
  bool struck = false;
  bool refused = false;  ///< a worker did not take what came
  bool failed = false;   ///< a worker gave an error
  bool stands = false;   ///< something is missing, and every worker that is not through says what it waits for
  bool wrong = false;    ///< through, and the comparison found it
  bool right = false;    ///< through, and right
};

End run(const core::Collective& collective, Fault fault, std::uint64_t seed) {
  Ether ether(fault, seed, seed % 23);
  std::vector<std::unique_ptr<Worker>> workers;
  for (std::int32_t w = 0; w < collective.group.cluster().workers(); ++w) {
    workers.push_back(std::make_unique<Worker>(ether, collective, w));
    ether.workers.push_back(&workers.back()->interpreter);
  }
  for (const auto& worker : workers) {
    for (const Rank r : worker->ranks) worker->interpreter.start({0, 0}, r);
  }
  End end;
  for (bool moved = true; moved && ether.refused.empty() && !end.failed;) {
    moved = false;
    for (const auto& worker : workers) {
      moved = moved || worker->interpreter.has_ready() || !worker->transport.flushed();
      worker->interpreter.run_ready();
      EXPECT_TRUE(worker->transport.poll({}));
      end.failed = end.failed || !worker->interpreter.failure().empty();
    }
    moved = ether.step() || moved;
  }
  end.struck = ether.struck;
  end.refused = !ether.refused.empty();
  const bool through = std::all_of(workers.begin(), workers.end(), [](const auto& w) { return w->through(); });
  if (through) {
    for (const auto& worker : workers) {
      std::vector<Rank> ranks;
      std::vector<const std::byte*> results;
      for (std::size_t i = 0; i < worker->ranks.size(); ++i) {
        if (worker->ranks[i] >= collective.contributors) continue;
        ranks.push_back(worker->ranks[i]);
        results.push_back(worker->data[i].data());
      }
      end.wrong =
          end.wrong || find_wrong_element(Worker::reduced(collective), collective.elements, ranks, results).has_value();
    }
    end.right = !end.wrong;
  } else if (!end.refused && !end.failed) {
    end.stands = std::all_of(workers.begin(), workers.end(), [](const auto& w) {
      return w->through() || w->interpreter.where_it_stands().find("rank") != std::string::npos;
    });
  }
  return end;
}

struct Case {
  core::Cluster cluster;
  std::vector<core::Collective> collectives;
};

/// Algorithms with fixed partners, with any order of arrival, with slots; messages of several pieces.
template <class Check>
void for_all(Check check) {
  const core::Cluster cluster({{test::switch_machine(2), 3}}, 2,
                              core::Network{core::Network::Kind::kOneSwitch, std::nullopt, core::Time(), "test"});
  for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kPscpu, Algorithm::kNccl, Algorithm::kNcclRing}) {
    core::Strategy strategy = core::Strategy::for_algorithm(algorithm);
    if (!core::problems_of(strategy, cluster).empty()) continue;
    for (const std::int64_t elements : {std::int64_t{1009}, std::int64_t{150'001}}) {
      const core::Collective collective = core::make_all_reduce(cluster, strategy, core::DataType::kInt32, elements, 0);
      for (std::uint64_t seed = 1; seed <= (elements > 10'000 ? 6u : 24u); ++seed)
        check(collective, seed, fmt::format("{}, {} elements, seed {}", core::to_string(algorithm), elements, seed));
    }
  }
}

TEST(FaultyTransport, OvertakingAndDelaysDoNoHarm) {
  for_all([](const core::Collective& collective, std::uint64_t seed, const std::string& what) {
    EXPECT_TRUE(run(collective, Fault::kNone, seed).right) << what;
  });
}

TEST(FaultyTransport, NothingGoesWrongUnnoticed) {
  int struck[kFaults] = {};
  int harmless[kFaults] = {};
  for (int f = 1; f < kFaults; ++f) {
    const auto fault = static_cast<Fault>(f);
    for_all([&](const core::Collective& collective, std::uint64_t seed, const std::string& what) {
      const End end = run(collective, fault, seed);
      struck[f] += end.struck;
      if (!end.struck) {
        EXPECT_TRUE(end.right) << what << ", fault " << f;
        return;
      }
      EXPECT_TRUE(end.refused || end.failed || end.stands || end.wrong || end.right) << what << ", fault " << f;
      harmless[f] += end.right;
      switch (fault) {
        case Fault::kWrongPayload:  // found by comparing, unless something else is written there later
          EXPECT_FALSE(end.failed || end.stands) << what;
          break;
        case Fault::kReplayedPiece:  // the last of all may come when everyone is through
          EXPECT_TRUE(end.refused) << what;
          break;
        case Fault::kReplayedSlot:
        case Fault::kLostSlot:
        case Fault::kSilence:  // the last ones are not missed
          EXPECT_FALSE(end.wrong) << what << ", fault " << f;
          break;
        default: EXPECT_FALSE(end.right || end.wrong) << what << ", fault " << f << " went through";
      }
    });
  }
  for (int f = 1; f < kFaults; ++f) {
    EXPECT_GT(struck[f], 30) << "fault " << f << " hardly ever happens";
    if (static_cast<Fault>(f) == Fault::kLostSlot) continue;  // few messages, so other slots do
    EXPECT_LT(harmless[f], struck[f] / 2) << "fault " << f << " hardly ever does anything";
  }
}

}  // namespace
}  // namespace tutti::real
