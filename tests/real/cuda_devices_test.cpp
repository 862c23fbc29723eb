// The CUDA backend, on fake GPUs (tests/real/fake_cuda.h) and, if there are any, on real GPUs.
// Kernels are compared with the host's operations bit by bit, and fake GPUs simulate errors and
// full memory.

#include "real/cuda/cuda_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <map>

#include "core/algorithm/ring.h"
#include "core/base/random.h"
#include "real/cuda/module/elements.h"
#include "tests/real/fake_cuda.h"
#include "tests/real/one_process.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"

namespace tutti::real {
namespace {

using core::AlgorithmChoice;
using core::DataType;
using core::Rank;
using test::FakeCuda;
using test::FakeCudaOptions;
using testing::HasSubstr;

enum class Gpus { kFake, kReal };

/// Tests that fake and real GPUs share.
class OnGpus : public testing::TestWithParam<Gpus> {
 protected:
  void SetUp() override {
    if (GetParam() == Gpus::kFake) {
      FakeCuda::the().reset({});
      api_ = &FakeCuda::the().api();
      count_ = 2;
      return;
    }
    const auto api = CudaDevices::load();
    if (!api) GTEST_SKIP() << api.error().message();
    const auto count = CudaDevices::count(**api);
    if (!count) GTEST_SKIP() << count.error().message();
    api_ = *api;
    count_ = *count;
  }
  void TearDown() override {
    if (GetParam() != Gpus::kFake) return;
    EXPECT_EQ(FakeCuda::the().streams(), 0u);
    EXPECT_EQ(FakeCuda::the().events(), 0u);
    EXPECT_EQ(FakeCuda::the().allocations(), 0u);
  }

  /// Returns devices for which ranks 0, far_each, 2 far_each … of `ranks` are on GPUs.
  [[nodiscard]] std::unique_ptr<CudaDevices> devices(Rank ranks, int far_each) const {
    CudaOptions options;
    for (Rank r = 0; r < ranks; r += far_each)
      options.gpus.push_back({r, fmt::format("gpu{}", r), r % count_});
    auto opened = CudaDevices::open(*api_, std::move(options));
    if (!opened) throw std::runtime_error(opened.error().message());
    return std::move(*opened);
  }

  const TuttiCudaApi* api_ = nullptr;
  int count_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Cuda, OnGpus, testing::Values(Gpus::kFake, Gpus::kReal),
                         [](const auto& gpus) {
                           return gpus.param == Gpus::kFake ? "Fake" : "Real";
                         });

TEST_P(OnGpus, EveryAlgorithmReducesEveryElement) {
  for (const auto& [workers, gpus] : {std::pair{1, 4}, std::pair{3, 1}, std::pair{2, 4}}) {
    for_every_algorithm(workers, gpus, {1, 1009, 40'001},
                        [&](const core::Collective& collective, const std::string& name) {
                          for (const int far_each : {1, 2}) {
                            for (const bool local : {true, false}) {
                              const auto gpus_here =
                                  devices(collective.schedule->ranks(), far_each);
                              LocalTransport inside;
                              LeavesTheProcess outside;
                              const Outcome outcome = run(collective, Operation::kSum,
                                                          in_order(collective.schedule->ranks()),
                                                          *gpus_here, local ? inside : outside);
                              expect_all_reduced(collective, Operation::kSum, outcome, 1, name);
                            }
                          }
                        });
  }
}

TEST_P(OnGpus, EveryTypeAndOperationOverARing) {
  const auto cluster = test::plain_cluster(5);
  for (const DataType type : core::kDataTypes) {
    for (int o = 0; o < kOperations; ++o) {
      const core::Collective ring =
          test::on_plain_cluster(*cluster, core::ring_all_reduce(5, 1003), 1003, type);
      LocalTransport transport;
      const auto gpus = devices(5, 1);
      expect_all_reduced(ring, static_cast<Operation>(o),
                         run(ring, static_cast<Operation>(o), in_order(5), *gpus, transport), 1,
                         "ring");
    }
  }
}

TEST_P(OnGpus, LongMessagesAndFewSlots) {
  const auto cluster = test::plain_cluster(2);
  for (const int credits : {1, core::kUnlimitedCredits}) {
    core::RingOptions options;
    options.credits = credits;
    const core::Collective collective =
        test::on_plain_cluster(*cluster, core::ring_all_reduce(2, 1'200'011, options), 1'200'011);
    for (const bool local : {true, false}) {
      const auto gpus = devices(2, 1);
      LocalTransport inside;
      LeavesTheProcess outside;
      const Outcome outcome =
          run(collective, Operation::kSum, in_order(2), *gpus, local ? inside : outside);
      expect_all_reduced(collective, Operation::kSum, outcome, 1, fmt::format("{} slots", credits));
    }
  }
}

class Recorder : public WorkListener {
 public:
  void worked(Ticket ticket) override { tickets.push_back(ticket); }
  void computed(Rank rank, Devices::Clock::time_point start,
                Devices::Clock::time_point end) override {
    spans.push_back({rank, start, end});
  }
  std::vector<Ticket> tickets;
  std::vector<BusyStreams::Span> spans;
};

void finish(CudaDevices& devices, Recorder& recorder, std::size_t tickets, std::size_t spans) {
  while (recorder.tickets.size() < tickets || recorder.spans.size() < spans) {
    const auto polled = devices.poll(recorder);
    ASSERT_TRUE(polled) << polled.error().message();
  }
}

/// Returns random bits, which include subnormal numbers, infinities and NaN.
std::vector<std::byte> random_bytes(core::Random& random, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
  return bytes;
}

bool is_nan(DataType type, const std::byte* element) {
  if (type == DataType::kInt32 || type == DataType::kInt64) return false;
  return std::isnan(element_at(type, element, 0));
}

/// Expects the same bits, or NaN on both sides.
void expect_same(DataType type, const std::vector<std::byte>& got,
                 const std::vector<std::byte>& expected, const std::string& what) {
  const auto item = static_cast<std::size_t>(core::size_of(type).count());
  for (std::size_t i = 0; i + item <= got.size(); i += item) {
    if (std::memcmp(&got[i], &expected[i], item) == 0) continue;
    if (is_nan(type, &got[i]) && is_nan(type, &expected[i])) continue;
    ADD_FAILURE() << what << ": element " << i / item << " is " << element_at(type, &got[i], 0)
                  << ", not " << element_at(type, &expected[i], 0);
    return;
  }
}

/// Runs every kernel on random bits and compares it with the host. Lengths and addresses are not
/// aligned, and the bytes around the target must not change.
TEST_P(OnGpus, KernelsMatchTheHostBitForBit) {
  core::Random random(3);
  const auto gpus = devices(1, 1);
  constexpr std::int64_t kRoom = 1 << 14;
  constexpr std::int64_t kInputs = 3;
  const Devices::Memory room = gpus->take(0, (2 + kInputs) * kRoom, false);
  Ticket ticket = 0;
  for (const DataType type : core::kDataTypes) {
    const std::int64_t item = core::size_of(type).count();
    for (int o = 0; o < kOperations; ++o) {
      for (const std::int64_t count : {1, 7, 64, 1001}) {
        for (const std::int64_t shift : {0, 1, 3}) {
          for (const std::int64_t other_shift : {shift, std::int64_t{2}}) {
            const std::vector<std::byte> before =
                random_bytes(random, static_cast<std::size_t>((2 + kInputs) * kRoom));
            for (const Work::Kind kind : {Work::Kind::kCombine, Work::Kind::kReduce,
                                          Work::Kind::kScale, Work::Kind::kCopy}) {
              for (const bool accumulate : {false, true}) {
                const auto make = [&](std::byte* base) {
                  Work work;
                  work.kind = kind;
                  work.operation = static_cast<Operation>(o);
                  work.type = type;
                  work.target = base + 64 + shift * item;
                  work.a = accumulate && kind == Work::Kind::kCombine
                               ? work.target
                               : base + kRoom + 64 + other_shift * item;
                  work.b = base + 2 * kRoom + 64 + shift * item;
                  work.count = count;
                  work.inputs = kInputs;
                  work.stride = kRoom + (other_shift == 2 ? item : 0);
                  work.accumulate = accumulate;
                  work.factor = 1.0 / 3;
                  return work;
                };
                std::vector<std::byte> expected = before;
                std::vector<std::byte> got(before.size());
                perform_here(make(expected.data()));
                gpus->copy_now(room.get(), before.data(), static_cast<std::int64_t>(before.size()));
                Recorder recorder;
                ASSERT_FALSE(gpus->perform(make(room.get()), ++ticket));
                finish(*gpus, recorder, 1, 0);
                gpus->copy_now(got.data(), room.get(), static_cast<std::int64_t>(got.size()));
                expect_same(
                    type, got, expected,
                    fmt::format("{} {} kind {}, {} elements, {} and {} off", core::to_string(type),
                                o, static_cast<int>(kind), count, shift, other_shift));
                if (HasFailure()) return;
              }
            }
          }
        }
      }
    }
  }
}

/// The length needs more than one iteration of the widest grid.
TEST_P(OnGpus, KernelsProcessLongRanges) {
  constexpr std::int64_t kCount = 3'000'001;
  const auto gpus = devices(1, 1);
  for (const DataType type : {DataType::kFloat32, DataType::kBfloat16}) {
    const std::int64_t bytes = kCount * core::size_of(type).count();
    std::vector<std::byte> a(static_cast<std::size_t>(bytes)), b(a.size()), got(a.size());
    for (std::int64_t i = 0; i < kCount; ++i) {
      set_element(type, a.data(), i, static_cast<double>(i % 61));
      set_element(type, b.data(), i, static_cast<double>(i % 67));
    }
    const Devices::Memory far_a = gpus->take(0, bytes, false);
    const Devices::Memory far_b = gpus->take(0, bytes, false);
    gpus->copy_now(far_a.get(), a.data(), bytes);
    gpus->copy_now(far_b.get(), b.data(), bytes);
    Work work;
    work.type = type;
    work.count = kCount;
    work.kind = Work::Kind::kCombine;
    work.target = far_a.get();
    work.a = far_a.get();
    work.b = far_b.get();
    Recorder recorder;
    ASSERT_FALSE(gpus->perform(work, 1));
    finish(*gpus, recorder, 1, 0);
    gpus->copy_now(got.data(), far_a.get(), bytes);
    combine(Operation::kSum, type, a.data(), b.data(), kCount);
    EXPECT_TRUE(got == a) << core::to_string(type);
  }
}

TEST_P(OnGpus, StepsOfALaneAreReportedInOrder) {
  const auto gpus = devices(2, 1);
  const Devices::Memory memory = gpus->take(0, 4096, false);
  const Devices::Memory other = gpus->take(1, 4096, false);
  Recorder recorder;
  for (Ticket t = 0; t < 60; ++t) {
    Work work;
    work.rank = static_cast<Rank>(t % 2);
    work.lane = static_cast<core::Lane>(t % 3);
    work.kind = Work::Kind::kScale;
    work.count = 1024;
    work.target = work.rank == 0 ? memory.get() : other.get();
    ASSERT_FALSE(gpus->perform(work, t));
  }
  EXPECT_NE(gpus->next_due(), Devices::Clock::time_point::max());
  finish(*gpus, recorder, 60, 0);
  EXPECT_EQ(gpus->next_due(), Devices::Clock::time_point::max());
  std::map<Ticket, Ticket> last;
  for (const Ticket t : recorder.tickets) {
    EXPECT_LE(last[t % 6], t);
    last[t % 6] = t;
  }
}

TEST_P(OnGpus, HostAndDeviceReachBuffersForTheHost) {
  const auto gpus = devices(1, 1);
  const Devices::Memory far = gpus->take(0, 4000, false);
  const Devices::Memory near = gpus->take(0, 4000, true);
  EXPECT_FALSE(gpus->host_reaches(0));
  EXPECT_TRUE(gpus->host_reaches(7)) << "rank 7 is on the host";
  for (int i = 0; i < 1000; ++i) set_element(DataType::kInt32, near.get(), i, i);
  Work work;
  work.kind = Work::Kind::kMove;
  work.type = DataType::kInt32;
  work.count = 1000;
  work.target = far.get();
  work.a = near.get();
  Recorder recorder;
  ASSERT_FALSE(gpus->perform(work, 1));
  finish(*gpus, recorder, 1, 0);
  work.kind = Work::Kind::kCombine;
  work.a = far.get();
  work.b = near.get();
  ASSERT_FALSE(gpus->perform(work, 2));
  finish(*gpus, recorder, 2, 0);
  std::vector<std::byte> got(4000);
  gpus->copy_now(got.data(), far.get(), 4000);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(element_at(DataType::kInt32, got.data(), i), 2 * i);
}

TEST_P(OnGpus, ComputationTakesItsTimeOnEveryRank) {
  const auto gpus = devices(2, 1);
  const auto begin = Devices::Clock::now();
  Recorder recorder;
  std::map<Rank, std::vector<Devices::Clock::time_point>> ends;
  for (int i = 1; i <= 5; ++i) {
    for (const Rank rank : {0, 1}) {
      ends[rank].push_back(begin + i * std::chrono::milliseconds(2 + rank));
      ASSERT_TRUE(gpus->compute(rank, ends[rank].back()));
    }
  }
  EXPECT_FALSE(gpus->compute(5, begin)) << "on the host, computation needs no device";
  finish(*gpus, recorder, 0, 10);
  for (const Rank rank : {0, 1}) {
    std::size_t next = 0;
    Devices::Clock::time_point before{};
    for (const BusyStreams::Span& span : recorder.spans) {
      if (span.rank != rank) continue;
      // The end is measured by the device's clock, whose mapping to the host's clock has an error
      // of some microseconds.
      EXPECT_GE(span.end + std::chrono::milliseconds(1), ends[rank][next++]);
      EXPECT_GE(span.start, before);
      EXPECT_GE(span.end, span.start);
      before = span.end;
    }
    EXPECT_EQ(next, 5u);
  }
}

// --- faults, on fake GPUs only ---

class OnFakeGpus : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(FakeCuda::the().streams(), 0u);
    EXPECT_EQ(FakeCuda::the().events(), 0u);
    EXPECT_EQ(FakeCuda::the().allocations(), 0u);
  }
  static core::Expected<std::unique_ptr<CudaDevices>> open(const FakeCudaOptions& options,
                                                           int ranks = 1) {
    FakeCuda::the().reset(options);
    CudaOptions cuda;
    for (Rank r = 0; r < ranks; ++r)
      cuda.gpus.push_back({r, fmt::format("w0/gpu{}", r), r % options.devices});
    return CudaDevices::open(FakeCuda::the().api(), std::move(cuda));
  }
};

TEST_F(OnFakeGpus, PollReportsErrorsAndNothingLeaks) {
  FakeCudaOptions options;
  options.fails_at = 2;
  const auto gpus = open(options);
  ASSERT_TRUE(gpus);
  const Devices::Memory memory = (*gpus)->take(0, 4096, false);
  Work work;
  work.kind = Work::Kind::kScale;
  work.count = 1024;
  work.target = memory.get();
  Recorder recorder;
  for (Ticket t = 0; t < 5; ++t) EXPECT_FALSE((*gpus)->perform(work, t));
  core::Expected<void> polled;
  while (polled) polled = (*gpus)->poll(recorder);
  EXPECT_THAT(polled.error().message(),
              testing::AllOf(HasSubstr("GPU 0 (Fake GPU)"), HasSubstr("700"),
                             HasSubstr("compute-sanitizer")));
  EXPECT_LE(recorder.tickets.size(), 2u);
  EXPECT_FALSE((*gpus)->poll(recorder));
  // A caller that has not yet noticed the error does no harm.
  const Devices::Memory late = (*gpus)->take(0, 100, false);
  std::memset(late.get(), 1, 100);
  EXPECT_FALSE((*gpus)->perform(work, 9));
  (*gpus)->copy_now(late.get(), memory.get(), 100);
  EXPECT_TRUE((*gpus)->compute(0, Devices::Clock::now()));
}

TEST_F(OnFakeGpus, OutOfMemoryNamesTheSizeAndARemedy) {
  FakeCudaOptions options;
  options.memory_bytes = 64 << 20;
  const auto gpus = open(options);
  ASSERT_TRUE(gpus);
  // Unused buffers are released first.
  for (int i = 0; i < 3; ++i)
    static_cast<void>((*gpus)->take(0, (30 << 20) + i * (5 << 20), false));
  Recorder recorder;
  EXPECT_TRUE((*gpus)->poll(recorder));
  const Devices::Memory much = (*gpus)->take(0, 100 << 20, false);
  EXPECT_NE(much, nullptr);
  const auto polled = (*gpus)->poll(recorder);
  ASSERT_FALSE(polled);
  EXPECT_THAT(polled.error().message(), HasSubstr("104 MB"));
}

TEST_F(OnFakeGpus, NotesSharedGpusAndMissingPeerAccess) {
  FakeCudaOptions options;
  options.peers = false;
  const auto gpus = open(options, 3);
  ASSERT_TRUE(gpus);
  EXPECT_THAT((*gpus)->notes(),
              testing::ElementsAre(testing::ContainsRegex("w0/gpu0, w0/gpu2 .*GPU 0 .Fake GPU."),
                                   HasSubstr("2 ranks share GPU 0"),
                                   testing::ContainsRegex("w0/gpu1 .*GPU 1"),
                                   testing::ContainsRegex("^GPU 0 .*GPU 1"),
                                   testing::ContainsRegex("^GPU 1 .*GPU 0")));
}

TEST_F(OnFakeGpus, AMissingDriverOrDeviceIsAnErrorWithARemedy) {
  FakeCudaOptions options;
  options.count_error = kTuttiCudaNoDriver;
  FakeCuda::the().reset(options);
  EXPECT_THAT(CudaDevices::count(FakeCuda::the().api()).error().message(),
              HasSubstr("NVIDIA's driver"));
  options = {};
  options.devices = 0;
  FakeCuda::the().reset(options);
  EXPECT_THAT(CudaDevices::count(FakeCuda::the().api()),
              test::FailsWith(test::Mistake{core::ProblemCode::kMissing, "--backend"}));
  EXPECT_THAT(CudaDevices::count(FakeCuda::the().api()).error().message(),
              HasSubstr("nvidia-smi -L"));
}

TEST_F(OnFakeGpus, LanesBeyondTheLimitShareStreams) {
  const auto gpus = open({});
  ASSERT_TRUE(gpus);
  const Devices::Memory memory = (*gpus)->take(0, 4096, false);
  Work work;
  work.kind = Work::Kind::kScale;
  work.count = 1024;
  work.target = memory.get();
  Recorder recorder;
  for (core::Lane lane = 0; lane < 1000; ++lane) {
    work.lane = lane;
    (*gpus)->perform(work, static_cast<Ticket>(lane));
  }
  finish(**gpus, recorder, 1000, 0);
  EXPECT_LE(FakeCuda::the().max_streams(), 17);
}

// --- without GPUs ---

TEST(MemoryPool, BlocksAreLargeEnoughAndAtMostAnEighthTooLarge) {
  for (std::int64_t bytes = 1; bytes < (1 << 20); bytes += bytes < 5000 ? 1 : 977) {
    const std::int64_t block = block_bytes(bytes);
    EXPECT_GE(block, bytes);
    EXPECT_TRUE(block <= 512 || block <= bytes + bytes / 8 + 1) << bytes << " " << block;
    EXPECT_EQ(block_bytes(block), block) << "freed memory is reused";
  }
}

/// Scaling of integers on the device, without the host's long double, must give the same result to
/// the last bit.
TEST(CudaElements, WholeNumbersAreScaledAsOnTheHost) {
  core::Random random(11);
  const auto expect = [](std::int64_t value, double factor) {
    std::int64_t host = value;
    scale(DataType::kInt64, &host, 1, factor);
    EXPECT_EQ(cuda::scaled(value, factor), host) << value << " · " << factor;
    auto narrow = static_cast<std::int32_t>(value);
    const std::int32_t device = cuda::scaled(narrow, factor);
    scale(DataType::kInt32, &narrow, 1, factor);
    EXPECT_EQ(device, narrow) << value << " · " << factor;
  };
  for (const std::int64_t value :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{3}, std::int64_t{6},
        std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    for (int n = 1; n < 1000; ++n) expect(value, 1.0 / n);
  }
  for (int i = 0; i < 200'000; ++i) {
    const auto bits = static_cast<std::int64_t>(random.next());
    const double factor = std::ldexp(static_cast<double>(random.below(1u << 30)),
                                     -30 - static_cast<int>(random.below(40)));
    expect(bits >> random.below(63), random.below(2) ? factor : -factor);
  }
}

}  // namespace
}  // namespace tutti::real
