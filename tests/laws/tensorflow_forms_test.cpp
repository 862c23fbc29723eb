// The collectives of TensorFlow's runtime. The times of collectives under the ideal network, to the
// picosecond, and the bytes on every link are compared with the forms of docs/algorithms.md.
// Rounding is the same as in closed_forms_test.cpp.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "core/algorithm/tf_ring.h"
#include "core/algorithm/tree_broadcast.h"
#include "sim/collectives/collective_run.h"
#include "tests/support/clusters.h"

namespace tutti {
namespace {

using core::Bytes;
using core::CollectiveKind;
using core::Contract;
using core::Rank;
using core::Staging;
using core::TaskOrder;
using core::Time;

constexpr std::int64_t kItem = 4;  // bytes of a float32

class TensorFlowForm : public testing::TestWithParam<int> {
 protected:
  [[nodiscard]] int n() const { return GetParam(); }
  [[nodiscard]] Time alpha() const { return rates_.latency; }
  [[nodiscard]] Time wire(std::int64_t elements) const {
    return core::transfer_time(Bytes(elements * kItem), rates_.link);
  }
  [[nodiscard]] Time add(std::int64_t elements) const {
    return core::transfer_time(Bytes(elements * kItem), rates_.reduce);
  }
  [[nodiscard]] core::TfRingOptions rings(int count, std::int64_t elements) const {
    core::TfRingOptions options{TaskOrder(n(), {0}, true),
                                std::vector<core::Subdivision>(static_cast<std::size_t>(count))};
    options.chunk = core::aligned_chunk(elements, std::int64_t{n()} * count, kItem, 64);
    options.engine = core::Engine::kCpu;
    return options;
  }
  Time simulate(std::shared_ptr<const core::Schedule> schedule, const Contract& contract) {
    const auto cluster = test::plain_cluster(n(), rates_);
    core::Collective collective =
        test::on_plain_cluster(*cluster, std::move(schedule), contract.elements);
    collective.kind = contract.kind;
    collective.root = has_root(contract.kind) ? contract.root() : 0;
    const sim::CollectiveRun run = sim::run_alone(collective, core::NetworkModel::kIdeal);
    EXPECT_EQ(run.causal_chain.parts.total(), run.end)
        << "the critical path does not explain the whole time";
    return run.end;
  }
  [[nodiscard]] std::vector<std::int64_t> sizes() const {
    return {0, 1, n() - 1, n(), std::int64_t{16} * n(), 1'000'003, 16'777'216};
  }

  test::PlainRates rates_;
};

TEST_P(TensorFlowForm, OneRing) {
  for (const std::int64_t e : sizes()) {
    const Contract contract = Contract::all_reduce(n(), e);
    const core::TfRingOptions options = rings(1, e);
    const std::int64_t c = std::min(e, options.chunk);
    const Time expected =
        e == 0 ? Time() : 2 * (n() - 1) * (alpha() + wire(c)) + (n() - 1) * add(c);
    EXPECT_EQ(simulate(core::tf_ring_reduce(contract, options), contract), expected)
        << e << " elements";
  }
}

/// The rings share the port, and the device that adds.
TEST_P(TensorFlowForm, SeveralRingsTakeBetweenTheTimeOfOneAndTheSum) {
  for (const int k : {2, 3}) {
    for (const std::int64_t e : {std::int64_t{16} * n() * k, std::int64_t{1'000'003}}) {
      const Contract contract = Contract::all_reduce(n(), e);
      const core::TfRingOptions options = rings(k, e);
      const std::int64_t c = std::min(e, options.chunk);
      const Time took = simulate(core::tf_ring_reduce(contract, options), contract);
      EXPECT_GE(took, 2 * (n() - 1) * (alpha() + wire(c)) + (n() - 1) * add(c))
          << k << " rings of " << e;
      EXPECT_LE(took, 2 * (n() - 1) * (alpha() + k * wire(c)) + (n() - 1) * k * add(c))
          << k << " rings of " << e;
    }
  }
}

TEST_P(TensorFlowForm, Gather) {
  for (const std::int64_t block : {0, 1, 100'003}) {
    const Contract contract = Contract::of(CollectiveKind::kAllGather, n(), block * n(), 0, false);
    const Time expected = block == 0 ? Time() : (n() - 1) * (alpha() + wire(block));
    EXPECT_EQ(simulate(core::tf_ring_gather(contract, rings(1, block)), contract), expected)
        << block;
  }
}

/// Every task has one device, so there is only one tree. A device sends to its children in order,
/// through its one port.
TEST_P(TensorFlowForm, TreeBroadcast) {
  for (const Rank root : {0, n() / 2, n() - 1}) {
    const core::BroadcastTree tree{n(), root};
    for (const std::int64_t e : {1, 100'003}) {
      const std::function<Time(std::int32_t, Time)> all_below = [&](std::int32_t from, Time at) {
        Time last = at;
        Time sent = at;
        for (const std::int32_t to : tree.sends_to(from)) {
          sent += wire(e);
          last = std::max(last, all_below(to, sent + alpha()));
        }
        return last;
      };
      const Contract contract = Contract::of(CollectiveKind::kBroadcast, n(), e, root, false);
      EXPECT_EQ(simulate(core::hierarchical_tree_broadcast(contract, TaskOrder(n(), {0}, false),
                                                           core::Engine::kCpu),
                         contract),
                all_below(root, Time()))
          << "from " << root;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, TensorFlowForm, testing::Values(1, 2, 3, 4, 5, 8, 12, 17),
                         testing::PrintToStringParamName());

// --- on machines with GPUs ---

struct Shape {
  int workers = 1;
  int gpus = 1;
};
/// Prints a shape for GoogleTest, which would otherwise print its bytes.
void PrintTo(const Shape& shape, std::ostream* out) {
  *out << shape.workers << " x " << shape.gpus;
}

class TensorFlowLinks : public testing::TestWithParam<Shape> {
 protected:
  TensorFlowLinks()
      : cluster_({{test::switch_machine(gpus(), rates_), workers()}}, gpus(),
                 core::Network{core::Network::Kind::kOneSwitch, std::nullopt, core::microseconds(3),
                               "test"}) {}

  [[nodiscard]] int workers() const { return GetParam().workers; }
  [[nodiscard]] int gpus() const { return GetParam().gpus; }
  [[nodiscard]] int n() const { return workers() * gpus(); }

  [[nodiscard]] core::Collective collective(CollectiveKind kind, std::int64_t e, Staging staging,
                                            Rank root = 0) const {
    core::Strategy strategy = core::Strategy::for_algorithm(core::BaseAlgorithm::kTfRing);
    strategy.collective = kind;
    strategy.staging = staging;
    strategy.root = root;
    return core::make_collective(cluster_, strategy, core::DataType::kFloat32, e, 0);
  }
  [[nodiscard]] std::int64_t bytes_on(const sim::CollectiveRun& run,
                                      const std::string& link) const {
    for (core::LinkId id = 0; id < cluster_.links(); ++id) {
      if (cluster_.link_name(id) == link) return run.loads.total(id).count();
    }
    ADD_FAILURE() << "no link " << link;
    return -1;
  }

  test::PlainRates rates_;
  core::Cluster cluster_;
};

/// In the first pass, rank p sends every chunk except p + 1, which it finishes. In the second pass,
/// it sends every chunk except p + 2, whose path ends at rank p. With n full chunks of C elements,
/// these are the 2(n - 1)·C of the cost summary.
TEST_P(TensorFlowLinks, RingReduceLoadsTheLinksOfEachSender) {
  for (const std::int64_t e : {std::int64_t{1}, std::int64_t{16} * n(), std::int64_t{1'000'003}}) {
    const std::int64_t chunk = core::aligned_chunk(e, n(), kItem, 64);
    const auto bytes_of = [&](std::int64_t c) {
      return kItem * std::clamp<std::int64_t>(e - c % n() * chunk, 0, chunk);
    };
    const sim::CollectiveRun run = sim::run_alone(
        collective(CollectiveKind::kAllReduce, e, Staging::kDirect), core::NetworkModel::kFifo);
    for (int w = 0; w < workers(); ++w) {
      for (int g = 0; g < gpus(); ++g) {
        const std::int64_t p = std::int64_t{w} * gpus() + g;
        const std::int64_t sent = n() == 1 ? 0 : 2 * kItem * e - bytes_of(p + 1) - bytes_of(p + 2);
        EXPECT_LE(sent, 2 * (n() - 1) * chunk * kItem);
        const bool last = g + 1 == gpus();
        const std::string link = last && workers() > 1
                                     ? fmt::format("w{}/nic0→network", w)
                                     : fmt::format("w{}/gpu{}→w{}/nvswitch", w, g, w);
        EXPECT_EQ(bytes_on(run, link), sent) << e;
      }
    }
  }
}

TEST_P(TensorFlowLinks, AGatherSendsRanksMinusOneBlocksOverEveryNic) {
  if (workers() == 1) return;
  const std::int64_t block = 10'007;
  const sim::CollectiveRun run =
      sim::run_alone(collective(CollectiveKind::kAllGather, block * n(), Staging::kDirect),
                     core::NetworkModel::kFifo);
  for (int w = 0; w < workers(); ++w)
    EXPECT_EQ(bytes_on(run, fmt::format("w{}/nic0→network", w)), (n() - 1) * block * kItem);
}

TEST_P(TensorFlowLinks, ABroadcastReachesEveryWorkerOnceFromAnySource) {
  for (Rank root = 0; root < n(); ++root) {
    const sim::CollectiveRun run =
        sim::run_alone(collective(CollectiveKind::kBroadcast, 1000, Staging::kDirect, root),
                       core::NetworkModel::kFifo);
    const core::BroadcastTree tree{workers(), root / gpus()};
    for (int w = 0; w < workers(); ++w) {
      EXPECT_EQ(bytes_on(run, fmt::format("network→w{}/nic0", w)),
                w == root / gpus() ? 0 : 1000 * kItem);
      EXPECT_EQ(bytes_on(run, fmt::format("w{}/nic0→network", w)),
                std::ssize(tree.sends_to(w)) * 1000 * kItem);
    }
  }
}

/// A hop has three stages in sequence: from the GPU to the host, the request and the network, and
/// from the host to the GPU. With one GPU per worker, every hop is of this kind.
TEST_P(TensorFlowLinks, NetworkHopsTakeARequestAndStagingOnBothSides) {
  if (gpus() > 1) return;
  const Time half(rates_.latency.count() / 2);
  const core::Bandwidth pcie(rates_.link.count() / 3);
  const Time to_host = half + half;
  const Time across = 4 * half + core::microseconds(3);
  for (const std::int64_t e : {std::int64_t{1}, std::int64_t{1'000'003}}) {
    const std::int64_t c = std::min(e, core::aligned_chunk(e, n(), kItem, 64));
    const Time wire = core::transfer_time(Bytes(c * kItem), pcie);
    const Time add = core::transfer_time(Bytes(c * kItem), rates_.reduce);
    for (const bool requested : {false, true}) {
      const Time hop = 2 * (to_host + wire) + across + wire + (requested ? across : Time());
      const Time expected = n() == 1 ? Time() : 2 * (n() - 1) * hop + (n() - 1) * add;
      const Staging staging = requested ? Staging::kViaHostOnRequest : Staging::kViaHost;
      EXPECT_EQ(sim::run_alone(collective(CollectiveKind::kAllReduce, e, staging),
                               core::NetworkModel::kIdeal)
                    .end.count(),
                expected.count())
          << e;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, TensorFlowLinks,
                         testing::Values(Shape{1, 1}, Shape{1, 4}, Shape{2, 1}, Shape{2, 4},
                                         Shape{3, 2}, Shape{5, 1}, Shape{4, 4}));

}  // namespace
}  // namespace tutti
