// Closed forms of the algorithms that use two kinds of link, under the ideal network, to the
// picosecond. Workers have GPUs on a switch (NVLink), a CPU behind a PCIe switch, and one network
// card. Rounding is the same as in closed_forms_test.cpp.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>

#include "core/algorithm/shuffle.h"
#include "sim/collectives/collective_run.h"
#include "tests/support/clusters.h"

namespace tutti {
namespace {

using core::AlgorithmChoice;
using core::Bandwidth;
using core::BaseAlgorithm;
using core::Bytes;
using core::Staging;
using core::Time;

constexpr std::int64_t kItem = 4;                      // bytes of a float32
constexpr std::int64_t kBroadcastElements = 512 << 8;  // in NCCL's broadcast chunk of 512 KiB

/// The cost of a message on a route: α + ⌈bytes · β⌉. If the message is staged, the costs of
/// several stretches add up.
struct Way {
  struct Stretch {
    Time alpha;
    Bandwidth rate;
  };
  std::vector<Stretch> stretches;

  [[nodiscard]] Time alpha() const {
    Time sum;
    for (const Stretch& s : stretches) sum += s.alpha;
    return sum;
  }
  /// Returns the transfer time of the message's bytes over all stretches of the route, without
  /// latencies. REQUIRES: the route has a single stretch, unless it carries only one message.
  [[nodiscard]] Time wire(std::int64_t elements) const {
    Time sum;
    for (const Stretch& s : stretches) sum += core::transfer_time(Bytes(elements * kItem), s.rate);
    return sum;
  }
  [[nodiscard]] Time message(std::int64_t elements) const { return alpha() + wire(elements); }
};

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

struct Shape {
  int workers = 1;
  int gpus = 1;
};
/// Prints a shape for GoogleTest, which would otherwise print its bytes.
void PrintTo(const Shape& shape, std::ostream* out) {
  *out << shape.workers << " x " << shape.gpus;
}

class HierarchicalForm : public testing::TestWithParam<Shape> {
 protected:
  HierarchicalForm()
      : cluster_({{test::switch_machine(gpus(), rates_), workers()}}, gpus(),
                 core::Network{core::Network::Kind::kOneSwitch, std::nullopt, network_latency_,
                               "test"}) {}

  [[nodiscard]] int workers() const { return GetParam().workers; }
  [[nodiscard]] int gpus() const { return GetParam().gpus; }

  // The routes of test::switch_machine. NVLink has the full rate. The bandwidth of PCIe is a third
  // of this rate. Every link of a machine has half of the latency.
  [[nodiscard]] Way nvlink() const { return {{{half() + half(), rates_.link}}}; }
  [[nodiscard]] Way gpu_to_host() const { return {{{half() + half(), pcie()}}}; }
  [[nodiscard]] Way host_to_host() const { return {{{4 * half() + network_latency_, pcie()}}}; }
  [[nodiscard]] Way gpu_to_gpu_across(Staging staging) const {
    if (staging == Staging::kDirect)
      return host_to_host();  // GPU and CPU are equally far from the card
    Way way = gpu_to_host();
    way.stretches.push_back(host_to_host().stretches[0]);
    way.stretches.push_back(gpu_to_host().stretches[0]);
    return way;
  }
  [[nodiscard]] Time half() const { return Time(rates_.latency.count() / 2); }
  [[nodiscard]] Bandwidth pcie() const { return Bandwidth(rates_.link.count() / 3); }
  [[nodiscard]] Time add(std::int64_t elements) const {
    return core::transfer_time(Bytes(elements * kItem), rates_.reduce);
  }

  static Time ring(int n, std::int64_t e, const Way& way,
                   const std::function<Time(std::int64_t)>& add) {
    const std::int64_t c = ceil_div(e, n);
    return e == 0 ? Time() : 2 * (n - 1) * way.message(c) + (n - 1) * add(c);
  }
  /// Returns the time of NCCL's ring with one channel, which runs loops of at most 1 MiB per
  /// message in sequence.
  [[nodiscard]] Time nccl_ring(std::int64_t e) const {
    constexpr std::int64_t kSlice = 1 << 18;
    const std::int64_t loop = std::min(ceil_div(e, gpus()), kSlice) * gpus();
    Time sum;
    for (std::int64_t done = 0; done < e; done += loop) {
      sum += ring(gpus(), std::min(loop, e - done), nvlink(),
                  [this](std::int64_t c) { return add(c); });
    }
    return sum;
  }
  /// All messages but the last have the full size. The pipeline is full after n - 2 messages.
  [[nodiscard]] Time nccl_broadcast(std::int64_t e) const {
    if (e == 0 || gpus() == 1) return Time();
    const core::EvenCut cut{e, ceil_div(e, kBroadcastElements)};
    const std::int64_t c = cut.size(0);
    EXPECT_TRUE(cut.parts == 1 || e % cut.parts == 0) << "the form is for equal messages";
    return (gpus() - 1) * nvlink().message(c) + (cut.parts - 1) * nvlink().wire(c);
  }

  core::Collective collective(AlgorithmChoice algorithm, std::int64_t e, Staging staging,
                              int shards = 1) const {
    core::Strategy strategy = core::Strategy::for_algorithm(algorithm);
    strategy.staging = staging;
    strategy.channels = 1;
    strategy.shards = shards;
    return core::make_all_reduce(cluster_, strategy, core::DataType::kFloat32, e, 0);
  }
  static Time simulate(const core::Collective& collective) {
    const sim::CollectiveRun run = sim::run_alone(collective, core::NetworkModel::kIdeal);
    EXPECT_EQ(run.causal_chain.parts.total(), run.end)
        << "the critical path does not explain the whole time";
    return run.end;
  }

  /// Returns sizes in elements: zero, one, some around the number of ranks, primes (which are one
  /// broadcast message), and 64 MiB.
  [[nodiscard]] std::vector<std::int64_t> sizes() const {
    const std::int64_t n = workers() * gpus();
    return {0, 1, n - 1, n, n + 1, gpus() * 9'973, 99'991, 16'777'216};
  }

  /// If the chunks of a ring differ in length, the leader may finish before the other ranks. Then
  /// the form is an upper bound.
  void expect_after_ring(Time simulated, Time form, std::int64_t e) const {
    if (e % gpus() == 0) {
      EXPECT_EQ(simulated.count(), form.count()) << e << " elements";
    } else {
      EXPECT_LE(simulated.count(), form.count()) << e << " elements";
    }
  }

  test::PlainRates rates_{.reduce = Bandwidth(30'000'000'001)};
  Time network_latency_ = core::nanoseconds(2'345);
  core::Cluster cluster_;
};

TEST_P(HierarchicalForm, NcclThenRing) {
  for (const Staging staging : {Staging::kDirect, Staging::kViaHost}) {
    for (const std::int64_t e : sizes()) {
      const Time across =
          ring(workers(), e, gpu_to_gpu_across(staging), [this](std::int64_t c) { return add(c); });
      const Time expected = nccl_ring(e) + (workers() > 1 ? across + nccl_broadcast(e) : Time());
      expect_after_ring(
          simulate(
              collective(AlgorithmChoice(BaseAlgorithm::kNccl, BaseAlgorithm::kRing), e, staging)),
          expected, e);
    }
  }
}

TEST_P(HierarchicalForm, NcclThenHalvingDoubling) {
  if (!std::has_single_bit(static_cast<unsigned>(workers()))) return;
  for (const Staging staging : {Staging::kDirect, Staging::kViaHost}) {
    for (const std::int64_t e : sizes()) {
      Time across;
      std::int64_t held = e;
      for (int hop = 1; hop < workers() && e > 0; hop *= 2) {
        held = ceil_div(held, 2);
        across += 2 * gpu_to_gpu_across(staging).message(held) + add(held);
      }
      const Time expected = nccl_ring(e) + (workers() > 1 ? across + nccl_broadcast(e) : Time());
      expect_after_ring(
          simulate(collective(
              AlgorithmChoice(BaseAlgorithm::kNccl, BaseAlgorithm::kHalvingDoubling), e, staging)),
          expected, e);
    }
  }
}

TEST_P(HierarchicalForm, NcclThenRecursiveDoubling) {
  if (!std::has_single_bit(static_cast<unsigned>(workers()))) return;
  for (const Staging staging : {Staging::kDirect, Staging::kViaHost}) {
    for (const std::int64_t e : sizes()) {
      Time across;
      for (int hop = 1; hop < workers() && e > 0; hop *= 2)
        across += gpu_to_gpu_across(staging).message(e) + add(e);
      const Time expected = nccl_ring(e) + (workers() > 1 ? across + nccl_broadcast(e) : Time());
      expect_after_ring(simulate(collective(AlgorithmChoice(BaseAlgorithm::kNccl,
                                                            BaseAlgorithm::kRecursiveDoubling),
                                            e, staging)),
                        expected, e);
    }
  }
}

/// Each leader sends a piece to every worker's host. W - 1 pieces go over the network, and at the
/// same time its own piece goes over PCIe.
TEST_P(HierarchicalForm, NcclThenPscpu) {
  if (workers() == 1) return;
  for (const std::int64_t e : sizes()) {
    const std::int64_t last = core::RaggedCut{e, workers()}.size(workers() - 1);
    Time across;
    if (e > 0) {
      across = 2 * host_to_host().alpha() + 2 * (workers() - 1) * host_to_host().wire(last) +
               core::transfer_time(Bytes((workers() - 1) * last * kItem), rates_.reduce);
    }
    expect_after_ring(
        simulate(collective(AlgorithmChoice(BaseAlgorithm::kNccl, BaseAlgorithm::kPscpu), e,
                            Staging::kDirect)),
        nccl_ring(e) + across + nccl_broadcast(e), e);
  }
}

/// Each host sums the gradients of its G GPUs, the hosts reduce these sums over s of the hosts, and
/// each host sends the result to its G GPUs.
TEST_P(HierarchicalForm, PscpuThenPscpu) {
  for (const int shards : {1, 2, workers()}) {
    if (shards > workers()) continue;
    for (const std::int64_t e : sizes()) {
      const Time inside = e == 0 ? Time() : gpu_to_host().alpha() + gpus() * gpu_to_host().wire(e);
      const Time adding = core::transfer_time(Bytes((gpus() - 1) * e * kItem), rates_.reduce);
      Time across;
      if (e > 0 && workers() > 1) {
        const std::int64_t last = core::RaggedCut{e, shards}.size(shards - 1);
        across = 2 * host_to_host().alpha() + 2 * (workers() - 1) * host_to_host().wire(last) +
                 core::transfer_time(Bytes((workers() - 1) * last * kItem), rates_.reduce);
      }
      EXPECT_EQ(simulate(collective(AlgorithmChoice(BaseAlgorithm::kPscpu, BaseAlgorithm::kPscpu),
                                    e, Staging::kDirect, shards))
                    .count(),
                (2 * inside + adding + across).count())
          << e << " elements, " << shards << " shards";
    }
  }
}

/// Every GPU sends to every gathering host. The bottleneck is the port of a gathering host's card,
/// with G(W - 1) pieces in and as many out. The form is exact with one GPU per worker and with two
/// workers. In all other cases, messages collide at cards, and the form is a lower bound.
TEST_P(HierarchicalForm, PscpuAcrossWorkers) {
  if (workers() == 1) return;
  const std::int64_t w = workers(), g = gpus();
  for (const int shards : {1, 2, workers()}) {
    if (shards > workers()) continue;
    for (const std::int64_t e : sizes()) {
      const std::int64_t last = core::RaggedCut{e, shards}.size(shards - 1);
      Time expected;
      if (e > 0) {
        expected = 2 * host_to_host().alpha() + 2 * g * (w - 1) * host_to_host().wire(last) +
                   core::transfer_time(Bytes((w * g - 1) * last * kItem), rates_.reduce);
      }
      const Time simulated =
          simulate(collective(BaseAlgorithm::kPscpu, e, Staging::kDirect, shards));
      if (g == 1 || w == 2) {
        EXPECT_EQ(simulated.count(), expected.count()) << e << " elements, " << shards << " shards";
      } else {
        EXPECT_GE(simulated.count(), expected.count()) << e << " elements, " << shards << " shards";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, HierarchicalForm,
                         testing::Values(Shape{1, 8}, Shape{2, 1}, Shape{2, 2}, Shape{2, 4},
                                         Shape{2, 8}, Shape{3, 1}, Shape{3, 3}, Shape{4, 1},
                                         Shape{4, 4}, Shape{5, 1}, Shape{8, 1}, Shape{8, 2},
                                         Shape{8, 8}, Shape{16, 4}, Shape{64, 1}),
                         [](const auto& shape) {
                           return std::to_string(shape.param.workers) + "x" +
                                  std::to_string(shape.param.gpus);
                         });

}  // namespace
}  // namespace tutti
