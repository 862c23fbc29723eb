// The emulated network and devices form a simulation if they run with a clock that stands still
// while work is done. The emulation implements the simulator's model independently, so both must
// agree to the picosecond.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "core/base/random.h"
#include "core/strategy/collective.h"
#include "real/emulate/devices.h"
#include "real/emulate/network.h"
#include "real/interpreter/interpreter.h"
#include "sim/collectives/collective_run.h"
#include "tests/support/clusters.h"

namespace tutti {
namespace {

using core::AlgorithmChoice;
using core::BaseAlgorithm;
using core::Rank;
using core::Time;
using Clock = real::Timers::Clock;

/// A transport between workers in one process, which delivers each piece immediately.
class Wire : public real::Transport {
 public:
  Wire(const core::Group& group, std::int32_t worker, std::vector<std::unique_ptr<Wire>>& all)
      : group_(group), worker_(worker), all_(all) {}
  void connect(real::Receiver& receiver, real::Devices&) override { receiver_ = &receiver; }
  bool send(const real::Piece& piece, const std::byte* payload, real::Ticket ticket) override {
    sends_.push_back({piece, payload, ticket});
    return false;
  }
  void free_slot(const real::Channel& channel) override { slots_.push_back(channel); }
  core::Expected<void> poll(Clock::time_point) override {
    for (const Send& send : std::exchange(sends_, {})) {
      real::Receiver& to = *worker_of(send.piece.channel.to).receiver_;
      std::byte* const place = to.place(send.piece);
      EXPECT_NE(place, nullptr);
      if (place) std::copy_n(send.payload, send.piece.length, place);
      if (place) to.arrived(send.piece);
      receiver_->sent(send.ticket);
    }
    for (const real::Channel& channel : std::exchange(slots_, {}))
      EXPECT_TRUE(worker_of(channel.from).receiver_->slot_freed(channel));
    return {};
  }
  [[nodiscard]] bool flushed() const override { return sends_.empty() && slots_.empty(); }
  [[nodiscard]] bool is_local(Rank rank) const override {
    return group_.device(rank).worker == worker_;
  }

 private:
  struct Send {
    real::Piece piece;
    const std::byte* payload = nullptr;
    real::Ticket ticket = 0;
  };
  Wire& worker_of(Rank rank) { return *all_[group_.device(rank).worker]; }

  const core::Group& group_;
  std::int32_t worker_;
  std::vector<std::unique_ptr<Wire>>& all_;
  real::Receiver* receiver_ = nullptr;
  std::vector<Send> sends_;
  std::vector<real::Channel> slots_;
};

/// The parts of a worker process. All workers share one clock.
struct Worker : real::InterpreterListener {
  Worker(const core::Plan& plan, Wire& wire, real::Timers& t, const real::TimeScale& scale)
      : timers(t),
        devices(plan.collective(plan.packs.front()).group, scale, timers),
        network(plan, wire, scale, timers),
        interpreter(network, devices, *this, false) {
    network.connect(interpreter, devices);
  }
  void rank_done(real::CollectiveTag, Rank rank) override { ends[rank] = timers.now(); }
  void step_done(const real::StepDone&) override {}

  real::Timers& timers;
  real::EmulatedDevices devices;
  real::EmulatedNetwork network;
  real::Interpreter interpreter;
  std::map<Rank, Clock::time_point> ends;
};

double input(Rank rank, std::int64_t element) {
  return static_cast<double>((rank * 7 + element * 3) % 11);
}

struct Emulation {
  /// REQUIRES: the plan outlives the emulation.
  explicit Emulation(const core::Plan& plan) : collective(plan.collective(plan.packs.front())) {
    const std::int64_t count = collective.group.cluster().workers();
    for (std::int32_t w = 0; w < count; ++w)
      wires.push_back(std::make_unique<Wire>(collective.group, w, wires));
    for (std::int32_t w = 0; w < count; ++w)
      workers.push_back(std::make_unique<Worker>(plan, *wires[w], timers, kScale));
    data.resize(static_cast<std::size_t>(collective.schedule->ranks()));
    std::vector<std::vector<Rank>> ranks(workers.size());
    std::vector<std::vector<std::byte*>> buffers(workers.size());
    for (Rank r = 0; r < collective.schedule->ranks(); ++r) {
      std::vector<float>& mine = data[r];
      for (std::int64_t e = 0; e < collective.elements; ++e)
        mine.push_back(static_cast<float>(input(r, e)));
      ranks[worker_of(r)].push_back(r);
      buffers[worker_of(r)].push_back(reinterpret_cast<std::byte*>(mine.data()));
    }
    for (std::size_t w = 0; w < workers.size(); ++w)
      workers[w]->interpreter.open({0, 0}, collective, real::Operation::kSum, ranks[w], buffers[w]);
  }

  /// Returns the time at which each rank completes.
  std::vector<Time> run(const std::vector<Time>& start) {
    for (Rank r = 0; r < collective.schedule->ranks(); ++r) {
      timers.at(Clock::time_point(kScale.here(start[r])), [this, r] {
        workers[worker_of(r)]->interpreter.start({0, 0}, r);
      });
    }
    while (timers.next() != Clock::time_point::max()) {
      clock = timers.next();
      timers.run_due([this] { go_on(); });
    }
    std::vector<Time> ends;
    for (Rank r = 0; r < collective.schedule->ranks(); ++r) {
      const auto& of_worker = workers[worker_of(r)]->ends;
      EXPECT_TRUE(of_worker.contains(r)) << workers[worker_of(r)]->interpreter.progress_text();
      if (of_worker.contains(r))
        ends.push_back(Time(std::chrono::nanoseconds(of_worker.at(r).time_since_epoch()).count()));
    }
    return ends;
  }

  void expect_right_sums(const std::string& what) const {
    for (std::int64_t e = 0; e < collective.elements; ++e) {
      double sum = 0;
      for (Rank r = 0; r < collective.contributors; ++r) sum += input(r, e);
      for (Rank r = 0; r < collective.contributors; ++r)
        ASSERT_EQ(static_cast<double>(data[r][e]), sum) << what;
    }
  }

 private:
  [[nodiscard]] std::size_t worker_of(Rank rank) const {
    return static_cast<std::size_t>(collective.group.device(rank).worker);
  }
  /// Data that crosses no link, such as freed slots, takes no time.
  void go_on() {
    for (bool busy = true; busy;) {
      busy = false;
      for (std::size_t w = 0; w < workers.size(); ++w) {
        EXPECT_TRUE(workers[w]->devices.poll(workers[w]->interpreter));
        workers[w]->interpreter.run_ready();
        busy = busy || !wires[w]->flushed();
        EXPECT_TRUE(workers[w]->network.poll({}));
        busy = busy || workers[w]->interpreter.has_ready();
      }
    }
  }

  /// A picosecond of the scenario is a nanosecond of the clock, so nothing is rounded.
  static constexpr real::TimeScale kScale{1000};
  const core::Collective& collective;
  Clock::time_point clock{};
  real::Timers timers{std::chrono::microseconds(0), [this] { return clock; }};
  std::vector<std::unique_ptr<Wire>> wires;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::vector<float>> data;
};

class EmulationLaw : public testing::TestWithParam<core::HostLibrary> {};

TEST_P(EmulationLaw, AgreesWithTheSimulatorToThePicosecond) {
  for (const auto& [workers, gpus] :
       {std::pair{1, 4}, std::pair{3, 1}, std::pair{8, 1}, std::pair{2, 4}}) {
    core::Network network{core::Network::Kind::kOneSwitch, core::bandwidth_from_gb_per_s(1.25),
                          core::microseconds(50), "test"};
    // A sender that does not copy gets its buffer back when the message reaches its first link. The
    // next message of the sender's lane then reaches the link at the same moment, unless sending a
    // message takes time.
    core::HostTransportSettings settings;
    settings.threads = 1;
    if (GetParam() != core::HostLibrary::kMpi)
      settings.send_us_per_message = settings.receive_us_per_message = 0;
    network.host = core::host_transport(GetParam(), settings);
    const core::Cluster cluster({{test::switch_machine(gpus), workers}}, gpus, network);
    for (const AlgorithmChoice algorithm : core::algorithms()) {
      for (const core::Staging staging : {core::Staging::kDirect, core::Staging::kViaHost}) {
        core::Strategy strategy = core::Strategy::for_algorithm(algorithm);
        strategy.staging = staging;
        if (!core::problems_of(strategy, cluster).empty()) continue;
        // Here the channels of several devices start messages on a host's links at the same moment,
        // and their order is not part of the model.
        const bool ties = network.host && settings.send_us_per_message == std::nullopt &&
                          algorithm == AlgorithmChoice(BaseAlgorithm::kNccl) &&
                          staging == core::Staging::kViaHost;
        if (ties) continue;
        for (const std::int64_t elements :
             {std::int64_t{1}, std::int64_t{1009}, std::int64_t{300'007}}) {
          core::Plan plan;
          plan.packs.push_back(plan.pack_of(
              {}, core::make_all_reduce(cluster, strategy, core::DataType::kFloat32, elements, 0)));
          const core::Collective& collective = plan.collective(plan.packs.back());
          // The ranks start at different times, because the order of two messages that arrive at
          // the same moment is not part of the model. With recursive doubling, ranks end their
          // first hops at the same moment, independently of their start times. With recursive
          // doubling, the test therefore compares only the sorted end times, and not the end time
          // of each rank.
          core::Random random(static_cast<std::uint64_t>(elements));
          std::vector<Time> start;
          for (Rank r = 0; r < collective.schedule->ranks(); ++r)
            start.push_back(Time(static_cast<std::int64_t>(random.below(3'000'000'000))));
          std::vector<Time> simulated =
              sim::run_alone(collective, core::NetworkModel::kFifo, start).rank_end;
          const std::string what =
              fmt::format("{} {}x{}, {} elements{}", core::to_string(algorithm), workers, gpus,
                          elements, staging == core::Staging::kViaHost ? ", via host" : "");
          Emulation emulation(plan);
          std::vector<Time> emulated = emulation.run(start);
          if (algorithm.across == BaseAlgorithm::kRecursiveDoubling) {
            std::sort(simulated.begin(), simulated.end());
            std::sort(emulated.begin(), emulated.end());
          }
          EXPECT_EQ(emulated, simulated) << what;
          emulation.expect_right_sums(what);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Hosts, EmulationLaw,
                         testing::Values(core::HostLibrary::kOff, core::HostLibrary::kGrpc,
                                         core::HostLibrary::kNccl, core::HostLibrary::kMpi),
                         [](const auto& library) {
                           return std::string(core::to_string(library.param));
                         });

}  // namespace
}  // namespace tutti
