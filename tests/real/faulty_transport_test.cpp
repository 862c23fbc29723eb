// Runs workers over a transport with one fault at one moment. A seed determines both, so a run can
// be repeated. A wrong message must be rejected, lead to an error, make the run stall with a
// description of the place, or have no effect. A fault must never cause a crash, or a wrong result
// that the verification does not find. The same holds for the emulated network.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>

#include "core/base/random.h"
#include "core/strategy/collective.h"
#include "real/emulate/devices.h"
#include "real/emulate/network.h"
#include "real/interpreter/interpreter.h"
#include "real/interpreter/verify.h"
#include "tests/support/clusters.h"

namespace tutti::real {
namespace {

using core::AlgorithmChoice;
using core::Rank;

enum class Fault {
  kNone,           ///< no fault, but delays: channels overtake each other
  kReplayedPiece,  ///< a piece arrives twice
  kLostPiece,      ///< a piece never arrives
  kShorterPiece,   ///< a piece claims to be shorter than it is
  kLongerMessage,  ///< a piece claims that its message is longer
  kWrongOffset,    ///< a piece claims another offset in its message
  kOtherChannel,   ///< a piece claims to be from another lane
  kOtherPack,      ///< a piece claims to be of a collective that does not exist
  kWrongPayload,   ///< one bit of the payload is wrong
  kReplayedSlot,   ///< a slot is freed twice
  kLostSlot,       ///< a slot is never freed
  kSilence,        ///< at some moment, one worker stops sending
};
constexpr const char* kFaultNames[] = {
    "None",         "ReplayedPiece", "LostPiece",    "ShorterPiece", "LongerMessage", "WrongOffset",
    "OtherChannel", "OtherPack",     "WrongPayload", "ReplayedSlot", "LostSlot",      "Silence"};
constexpr int kFaults = 12;
constexpr core::Lane kSlotLane = 1 << 24;  // same as in real/emulate/network.cpp
/// Maximum size of pieces that may be delivered complete, without asking for their place first.
constexpr std::int64_t kShort = 16 << 10;

/// Holds all data in flight between workers. Each step delivers one item, chosen at random among
/// the oldest items of all channels.
class Ether {
 public:
  Ether(Fault fault, std::uint64_t seed, std::uint64_t moment)
      : fault_(fault), random_(seed), moment_(moment) {}

  struct Item {
    std::int32_t from = 0, to = 0;  ///< workers
    bool slot = false;
    Piece piece;
    std::vector<std::byte> payload;
  };
  std::vector<Receiver*> workers;
  std::string refused;    ///< the message that a worker rejected
  bool injected = false;  ///< true after the fault

  void put(Item item) {
    if (silent_ == item.from) return;
    const bool now = !injected && fits(item) && sent_++ >= moment_;
    if (!now || fault_ == Fault::kNone) return queue(std::move(item));
    injected = true;
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
      case Fault::kWrongPayload:
        item.payload[random_.below(item.payload.size())] ^= std::byte{64};
        break;
      case Fault::kNone: break;
    }
    queue(std::move(item));
  }

  /// Delivers an item. Returns false if nothing is in flight.
  bool step() {
    if (lines_.empty()) return false;
    const std::size_t which = random_.below(lines_.size());
    auto line = std::next(lines_.begin(), static_cast<std::ptrdiff_t>(which));
    Item item = std::move(line->second.front());
    line->second.pop_front();
    if (line->second.empty()) lines_.erase(line);
    Receiver& to = *workers[item.to];
    if (item.slot) {
      if (!to.slot_freed(item.piece.channel)) refused = "a slot";
      return true;
    }
    item.payload.resize(static_cast<std::size_t>(item.piece.length));
    if (item.piece.length <= kShort && random_.below(2) == 0) {
      if (!to.take(item.piece, item.payload.data())) refused = "a short piece";
      return true;
    }
    std::byte* const place = to.place(item.piece);
    if (!place) {
      refused = "a piece";
      return true;
    }
    std::copy(item.payload.begin(), item.payload.end(), place);
    to.arrived(item.piece);
    return true;
  }

 private:
  [[nodiscard]] bool fits(const Item& item) const {
    const bool of_slot = fault_ == Fault::kReplayedSlot || fault_ == Fault::kLostSlot;
    const bool reports_slot = item.slot || item.piece.channel.from_lane >= kSlotLane;
    return fault_ == Fault::kSilence ||
           (of_slot ? reports_slot : !reports_slot && item.piece.length > 4);
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
  /// Messages inside a worker also use the ether, unless `apart` is true.
  EtherTransport(Ether& ether, const core::Group& group, std::int32_t worker, bool apart)
      : ether_(ether), group_(group), worker_(worker), apart_(apart) {}
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
  [[nodiscard]] bool is_local(Rank rank) const override { return apart_ && of(rank) == worker_; }
  [[nodiscard]] Receiver& receiver() { return *receiver_; }

 private:
  [[nodiscard]] std::int32_t of(Rank rank) const { return group_.device(rank).worker; }
  Ether& ether_;
  const core::Group& group_;
  std::int32_t worker_;
  bool apart_;
  Receiver* receiver_ = nullptr;
  std::vector<Ticket> sent_;
};

/// The additional parts of an emulated run: links, and a clock that the test advances.
struct Stage {
  explicit Stage(const core::Collective& collective) {
    plan.packs.push_back(plan.pack_of({}, collective));
  }
  core::Plan plan;
  Timers::Clock::time_point clock{};
  Timers timers{std::chrono::hours(24), [this] { return clock; }};
};

/// A worker, which is emulated if there is a stage.
struct Worker : InterpreterListener {
  Worker(Ether& ether, const core::Collective& collective, std::int32_t worker, Stage* stage)
      : ether_transport(ether, collective.group, worker, stage != nullptr),
        own_devices(stage ? std::make_unique<EmulatedDevices>(collective.group, TimeScale{50},
                                                              stage->timers)
                          : std::unique_ptr<Devices>(std::make_unique<HostDevices>())),
        network(stage ? std::make_unique<EmulatedNetwork>(stage->plan, ether_transport,
                                                          TimeScale{50}, stage->timers)
                      : nullptr),
        devices(*own_devices),
        transport(network ? static_cast<Transport&>(*network) : ether_transport),
        interpreter(transport, devices, *this, false) {
    transport.connect(interpreter, devices);
    std::vector<std::byte*> buffers;
    for (Rank r = 0; r < collective.schedule->ranks(); ++r) {
      if (collective.group.device(r).worker != worker) continue;
      ranks.push_back(r);
      data.emplace_back(static_cast<std::size_t>(collective.bytes().count()));
      if (r < collective.contributors)
        fill_inputs(reduced(collective), r, data.back().data(), collective.elements);
    }
    for (auto& buffer : data) buffers.push_back(buffer.data());
    interpreter.open({0, 0}, collective, Operation::kSum, ranks, buffers);
  }
  static Reduced reduced(const core::Collective& collective) {
    return {collective.type, Operation::kSum, 99,
            static_cast<std::int32_t>(collective.contributors), 1};
  }
  void rank_done(CollectiveTag, Rank) override { ++done; }
  void step_done(const StepDone&) override {}
  [[nodiscard]] bool through() const { return done == ranks.size(); }

  EtherTransport ether_transport;
  std::unique_ptr<Devices> own_devices;
  std::unique_ptr<EmulatedNetwork> network;
  Devices& devices;
  Transport& transport;
  Interpreter interpreter;
  std::vector<Rank> ranks;
  std::vector<std::vector<std::byte>> data;
  std::size_t done = 0;
};

struct End {
  bool injected = false;
  bool refused = false;  ///< a worker rejected a message
  bool failed = false;   ///< a worker reported an error
  bool stands =
      false;  ///< data is missing, and every worker that has not finished reports which data
  bool wrong = false;  ///< completed, and the comparison found an error
  bool right = false;  ///< completed with the right result
};

End run(const core::Collective& collective, Fault fault, std::uint64_t seed,
        bool emulated = false) {
  Ether ether(fault, seed, seed % 23);
  core::Random random(seed + 1000);
  std::optional<Stage> stage;
  if (emulated) stage.emplace(collective);
  std::vector<std::unique_ptr<Worker>> workers;
  for (std::int32_t w = 0; w < collective.group.cluster().workers(); ++w) {
    workers.push_back(std::make_unique<Worker>(ether, collective, w, stage ? &*stage : nullptr));
    ether.workers.push_back(&workers.back()->ether_transport.receiver());
  }
  for (const auto& worker : workers) {
    for (const Rank r : worker->ranks) worker->interpreter.start({0, 0}, r);
  }
  End end;
  for (bool moved = true; moved && ether.refused.empty() && !end.failed;) {
    moved = false;
    for (const auto& worker : workers) {
      moved = moved || worker->interpreter.has_ready() || !worker->transport.flushed();
      EXPECT_TRUE(worker->devices.poll(worker->interpreter));
      const bool works = worker->interpreter.poll() && worker->transport.poll({});
      end.failed = end.failed || !works;
    }
    moved = ether.step() || moved;
    // Time may also pass while something is in flight, which then arrives late.
    if (!stage || stage->timers.next() == Timers::Clock::time_point::max() ||
        (moved && random.below(4) > 0))
      continue;
    moved = true;
    stage->clock = std::max(stage->clock, stage->timers.next());
    stage->timers.run_due([] {});
  }
  end.injected = ether.injected;
  end.refused = !ether.refused.empty();
  const bool through =
      std::all_of(workers.begin(), workers.end(), [](const auto& w) { return w->through(); });
  if (through) {
    for (const auto& worker : workers) {
      std::vector<Rank> ranks;
      std::vector<const std::byte*> results;
      for (std::size_t i = 0; i < worker->ranks.size(); ++i) {
        if (worker->ranks[i] >= collective.contributors) continue;
        ranks.push_back(worker->ranks[i]);
        results.push_back(worker->data[i].data());
      }
      end.wrong = end.wrong || find_wrong_element(Worker::reduced(collective), collective.elements,
                                                  ranks, results)
                                   .has_value();
    }
    end.right = !end.wrong;
  } else if (!end.refused && !end.failed) {
    end.stands = std::all_of(workers.begin(), workers.end(), [](const auto& w) {
      return w->through() || w->interpreter.progress_text().find("rank") != std::string::npos;
    });
  }
  return end;
}

/// Calls `check` for every algorithm, with several ranks per worker and with one, and with messages
/// of one piece and of several.
template <class Check>
void for_all(std::uint64_t seeds, Check check) {
  for (const auto& [count, gpus] : {std::pair{3, 2}, std::pair{2, 2}, std::pair{4, 1}}) {
    const core::Cluster cluster(
        {{test::switch_machine(gpus), count}}, gpus,
        core::Network{core::Network::Kind::kOneSwitch, std::nullopt, core::Time(), "test"});
    for (const AlgorithmChoice algorithm : core::algorithms()) {
      const core::Strategy strategy = core::Strategy::for_algorithm(algorithm);
      if (!core::problems_of(strategy, cluster).empty()) continue;
      for (const std::int64_t elements : {std::int64_t{1009}, std::int64_t{150'001}}) {
        const core::Collective collective =
            core::make_all_reduce(cluster, strategy, core::DataType::kInt32, elements, 0);
        for (std::uint64_t seed = 1; seed <= (elements > 10'000 ? seeds / 6 : seeds); ++seed) {
          check(collective, seed,
                fmt::format("{} on {} x {}, {} elements, seed {}", core::to_string(algorithm),
                            count, gpus, elements, seed));
        }
      }
    }
  }
}

TEST(FaultlessTransport, ReorderingAndDelaysDoNotChangeTheResult) {
  for_all(12, [](const core::Collective& collective, std::uint64_t seed, const std::string& what) {
    EXPECT_TRUE(run(collective, Fault::kNone, seed).right) << what;
    EXPECT_TRUE(run(collective, Fault::kNone, seed, true).right) << what << ", emulated";
  });
}

std::string to_string(const End& end) {
  return fmt::format("refused {}, failed {}, stands {}, wrong {}, right {}", end.refused,
                     end.failed, end.stands, end.wrong, end.right);
}

/// One fault, given by its number.
class FaultyTransport : public testing::TestWithParam<std::tuple<int, bool>> {};

TEST_P(FaultyTransport, EveryFaultIsDetectedOrHarmless) {
  const auto fault = static_cast<Fault>(std::get<0>(GetParam()));
  const bool emulated = std::get<1>(GetParam());
  int injected = 0;
  int harmless = 0;
  for_all(emulated ? 6 : 12,
          [&](const core::Collective& collective, std::uint64_t seed, const std::string& what) {
            const End end = run(collective, fault, seed, emulated);
            injected += end.injected;
            const std::string then = what + ": " + to_string(end);
            if (!end.injected) {
              EXPECT_TRUE(end.right) << then;
              return;
            }
            EXPECT_TRUE(end.refused || end.failed || end.stands || end.wrong || end.right) << then;
            harmless += end.right;
            switch (fault) {
              case Fault::kWrongPayload:  // found by the comparison, unless the data is overwritten
                EXPECT_FALSE(end.stands) << then;
                EXPECT_FALSE(end.failed && !emulated)
                    << then << " (only a stamp's bits are more than a number)";
                break;
              case Fault::kReplayedPiece:
                EXPECT_TRUE(end.refused || (emulated && end.failed)) << then;
                break;
              case Fault::kOtherChannel:  // a lane that accepts messages in any order does not
                                          // check the sending lane
                EXPECT_FALSE(end.wrong || (emulated && end.right)) << then;
                break;
              case Fault::kReplayedSlot:
              case Fault::kLostSlot:
              case Fault::kSilence:  // messages after the last needed one are not missed
                EXPECT_FALSE(end.wrong) << then;
                break;
              default: EXPECT_FALSE(end.right || end.wrong) << then;
            }
          });
  EXPECT_GT(injected, 30) << "the fault was hardly ever injected";
  if (fault == Fault::kLostSlot) return;  // with few messages, other slots suffice
  EXPECT_LT(harmless, injected / 2) << "the fault hardly ever had an effect";
}

INSTANTIATE_TEST_SUITE_P(Every, FaultyTransport,
                         testing::Combine(testing::Range(1, kFaults), testing::Bool()),
                         [](const auto& each) {
                           return fmt::format("{}{}", kFaultNames[std::get<0>(each.param)],
                                              std::get<1>(each.param) ? "Emulated" : "");
                         });

}  // namespace
}  // namespace tutti::real
