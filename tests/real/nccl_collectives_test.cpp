// The NCCL backend, on a fake NCCL (tests/real/fake_nccl.h): errors, groups, channels that the
// profiler plugin reports, and verification. Single collectives also run on the real NCCL if there
// are GPUs.

#include "real/nccl/nccl_collectives.h"
#include "real/interpreter/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <tuple>

#include "core/algorithm/ring.h"
#include "tests/real/fake_cuda.h"
#include "tests/real/fake_nccl.h"
#include "tests/real/one_process.h"
#include "tests/support/clusters.h"

namespace tutti::real {
namespace {

using core::DataType;
using core::Rank;
using test::fake_nccl_api;
using test::fake_nccl_counts;
using test::FakeCuda;
using test::FakeCudaOptions;
using testing::HasSubstr;

std::unique_ptr<CudaDevices> devices_of(const TuttiCudaApi& api, int ranks, int gpus) {
  CudaOptions options;
  for (Rank r = 0; r < ranks; ++r) options.gpus.push_back({r, fmt::format("gpu{}", r), r % gpus});
  auto opened = CudaDevices::open(api, std::move(options));
  if (!opened) throw std::runtime_error(opened.error().message());
  return std::move(*opened);
}

NcclOptions in_all(int ranks, double factor = 1) {
  NcclOptions options;
  options.ranks_in_all = ranks;
  options.factor = factor;
  return options;
}

FakeCudaOptions gpus_of(int count) {
  FakeCudaOptions options;
  options.devices = count;
  return options;
}

class NcclOnFakeGpus : public testing::Test {
 protected:
  void TearDown() override {
    run_.reset();
    buffers_.clear();
    devices_.reset();
    EXPECT_EQ(fake_nccl_counts().communicators, 0);
    EXPECT_EQ(FakeCuda::the().streams(), 0u);
    EXPECT_EQ(FakeCuda::the().events(), 0u);
    EXPECT_EQ(FakeCuda::the().allocations(), 0u);
  }

  core::Expected<void> open(int ranks, NcclOptions options = {}, int gpus = 4) {
    FakeCuda::the().reset(gpus_of(gpus));
    fake_nccl_counts() = {};
    devices_ = devices_of(FakeCuda::the().api(), ranks, gpus);
    options.ranks = in_order(ranks);
    if (options.ranks_in_all > 0) options.id = *NcclCollectives::make_id(fake_nccl_api());
    auto opened = NcclCollectives::open(fake_nccl_api(), transport_, *devices_, std::move(options),
                                        [] { return true; });
    if (!opened) return tl::make_unexpected(opened.error());
    run_ = std::move(*opened);
    run_->connect(done_);
    transport_.connect(run_->receiver(), *devices_);
    return {};
  }

  /// Adds a pack on all ranks, filled with input().
  void add(std::uint32_t pack, const core::Collective& collective, Operation operation) {
    std::vector<std::byte*> data;
    for (Rank r = 0; r < collective.contributors; ++r) {
      std::vector<std::byte> inputs(static_cast<std::size_t>(collective.bytes().count()));
      for (std::int64_t e = 0; e < collective.elements; ++e)
        set_element(collective.type, inputs.data(), e, input(r, e));
      buffers_.push_back(devices_->take(r, collective.bytes().count(), false));
      devices_->copy_now(buffers_.back().get(), inputs.data(), collective.bytes().count());
      data.push_back(buffers_.back().get());
    }
    run_->open({1, pack}, collective, operation,
               in_order(static_cast<Rank>(collective.contributors)), data);
  }

  core::Expected<void> finish(std::size_t ranks_done) {
    while (done_.ranks.size() < ranks_done) {
      if (auto polled = run_->poll(); !polled) return polled;
      EXPECT_TRUE(transport_.poll({}));
      if (auto polled = devices_->poll(*run_); !polled) return polled;
    }
    return {};
  }

  /// Returns the content of the buffers, starting with the buffer `first`.
  Outcome outcome(const core::Collective& collective, std::size_t first) {
    Outcome outcome;
    for (Rank r = 0; r < collective.contributors; ++r) {
      outcome.data.emplace_back(static_cast<std::size_t>(collective.bytes().count()));
      devices_->copy_now(outcome.data.back().data(),
                         buffers_[first + static_cast<std::size_t>(r)].get(),
                         collective.bytes().count());
    }
    return outcome;
  }

  class Recorder : public CollectiveListener {
   public:
    void rank_done(CollectiveTag tag, Rank rank) override {
      ranks.push_back(rank);
      packs.push_back(tag.pack);
    }
    void channel_done(const ChannelDone& done) override { channels.push_back(done); }
    std::vector<Rank> ranks;
    std::vector<std::uint32_t> packs;
    std::vector<ChannelDone> channels;
  };

  LocalTransport transport_;
  std::unique_ptr<CudaDevices> devices_;
  std::vector<Devices::Memory> buffers_;
  Recorder done_;
  std::unique_ptr<NcclCollectives> run_;
};

TEST_F(NcclOnFakeGpus, ReducesEveryTypeAndOperationForAnyNumberOfRanks) {
  for (const int ranks : {1, 2, 4}) {
    const auto cluster = test::plain_cluster(ranks);
    ASSERT_TRUE(open(ranks, in_all(ranks)));
    std::uint32_t pack = 0;
    for (const DataType type : core::kDataTypes) {
      for (int o = 0; o < kOperations; ++o) {
        const core::Collective collective =
            test::on_plain_cluster(*cluster, core::ring_all_reduce(ranks, 1003), 1003, type);
        const std::size_t first = buffers_.size();
        add(pack, collective, static_cast<Operation>(o));
        done_ = {};
        for (Rank r = 0; r < ranks; ++r) run_->start({1, pack}, r);
        ASSERT_TRUE(finish(static_cast<std::size_t>(ranks)));
        expect_all_reduced(collective, static_cast<Operation>(o), outcome(collective, first), 1,
                           "nccl");
        run_->close({1, pack++});
      }
    }
    EXPECT_EQ(fake_nccl_counts().all_reduces, ranks * 24);
    TearDown();
    EXPECT_EQ(fake_nccl_counts().aborted, 0);
  }
}

TEST_F(NcclOnFakeGpus, RunsEveryCollectiveInPlaceAndOutOfPlace) {
  for (const int ranks : {1, 2, 3, 4}) {
    const auto cluster = test::plain_cluster(ranks);
    ASSERT_TRUE(open(ranks, in_all(ranks)));
    std::uint32_t pack = 0;
    for (const core::CollectiveKind kind : core::collective_kinds()) {
      for (const bool out_of_place : {false, true}) {
        if (!out_of_place && !core::can_be_in_place(kind)) continue;
        core::Collective collective =
            test::on_plain_cluster(*cluster, core::ring_all_reduce(ranks, 1008), 1008);
        collective.kind = kind;
        collective.out_of_place = out_of_place;
        collective.root = ranks - 1;
        const Reduced reduced{collective.type, Operation::kSum, pack, ranks, 1};
        std::vector<std::byte*> data;
        std::vector<std::vector<std::byte>> host;
        const std::int64_t bytes = collective.buffer_bytes().count();
        for (Rank r = 0; r < ranks; ++r) {
          host.emplace_back(static_cast<std::size_t>(bytes));
          fill_inputs(reduced, collective.contract(), r, host.back().data());
          buffers_.push_back(devices_->take(r, bytes, false));
          data.push_back(buffers_.back().get());
          devices_->copy_now(data.back(), host.back().data(), bytes);
        }
        run_->open({1, pack}, collective, Operation::kSum, in_order(ranks), data);
        done_ = {};
        for (Rank r = 0; r < ranks; ++r) run_->start({1, pack}, r);
        ASSERT_TRUE(finish(static_cast<std::size_t>(ranks)));
        std::vector<const std::byte*> results;
        for (Rank r = 0; r < ranks; ++r) {
          const auto place = static_cast<std::size_t>(r);
          devices_->copy_now(host[place].data(), data[place], bytes);
          results.push_back(host[place].data());
        }
        EXPECT_FALSE(find_wrong_element(reduced, collective.contract(), in_order(ranks), results))
            << core::to_string(kind) << ", " << ranks << " ranks, "
            << (out_of_place ? "out of place" : "in place");
        run_->close({1, pack++});
      }
    }
    TearDown();
  }
}

TEST_F(NcclOnFakeGpus, LaunchesPacksInOrderWhicheverIsReadyFirst) {
  const auto cluster = test::plain_cluster(3);
  ASSERT_TRUE(open(3, in_all(3, 0.25)));
  const core::Collective collective =
      test::on_plain_cluster(*cluster, core::ring_all_reduce(3, 5000), 5000);
  for (std::uint32_t p = 0; p < 4; ++p) add(p, collective, Operation::kSum);
  for (const std::uint32_t p : {2u, 3u, 1u}) {
    for (Rank r = 0; r < 3; ++r) run_->start({1, p}, r);
    for (int i = 0; i < 50; ++i) {
      ASSERT_TRUE(run_->poll());
      ASSERT_TRUE(devices_->poll(*run_));
    }
  }
  EXPECT_TRUE(done_.ranks.empty()) << "pack 0 comes first, and has not been started";
  EXPECT_THAT(run_->progress_text(), testing::ContainsRegex("pack 1 .*3 of 3 ranks"));
  for (Rank r = 0; r < 3; ++r) run_->start({1, 0}, r);
  ASSERT_TRUE(finish(12));
  std::vector<std::uint32_t> of_rank_0;
  for (std::size_t i = 0; i < done_.ranks.size(); ++i) {
    if (done_.ranks[i] == 0) of_rank_0.push_back(done_.packs[i]);
  }
  EXPECT_THAT(of_rank_0, testing::ElementsAre(0, 1, 2, 3));
  for (std::uint32_t p = 0; p < 4; ++p)
    expect_all_reduced(collective, Operation::kSum, outcome(collective, p * 3), 0.25,
                       "a mean, as it were");
}

TEST_F(NcclOnFakeGpus, AMissingPeerIsAnErrorThatAbortsCommunicators) {
  const auto cluster = test::plain_cluster(2);
  ::setenv("TUTTI_FAKE_NCCL_FAILS_AT", "1", 1);
  ASSERT_TRUE(open(2, in_all(2)));
  const core::Collective collective =
      test::on_plain_cluster(*cluster, core::ring_all_reduce(2, 100), 100);
  for (std::uint32_t p = 0; p < 2; ++p) {
    add(p, collective, Operation::kSum);
    for (Rank r = 0; r < 2; ++r) run_->start({1, p}, r);
  }
  const auto finished = finish(4);
  ::unsetenv("TUTTI_FAKE_NCCL_FAILS_AT");
  ASSERT_FALSE(finished);
  EXPECT_THAT(finished.error().message(),
              testing::AllOf(HasSubstr("NCCL: "), HasSubstr("remote process exited"),
                             HasSubstr("last words"), HasSubstr("NCCL_DEBUG")));
  EXPECT_FALSE(run_->poll()) << "it lasts";
  run_.reset();
  EXPECT_EQ(fake_nccl_counts().aborted, 2);
}

TEST_F(NcclOnFakeGpus, TheWaitForMissingRanksTimesOut) {
  NcclOptions options;
  options.ranks_in_all = 3;
  options.timeout = std::chrono::milliseconds(20);
  const auto opened = open(2, options);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message(), testing::ContainsRegex("3 ranks: .* 0.02 s"));
}

TEST_F(NcclOnFakeGpus, RefusesTwoRanksOnOneGpuLikeNccl) {
  const auto opened = open(2, in_all(2), 1);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message(), HasSubstr("communicator of 2 ranks"));
}

TEST_F(NcclOnFakeGpus, ChannelsAreReportedWithPackAndRank) {
  const auto cluster = test::plain_cluster(3);
  NcclOptions options = in_all(3);
  options.follow_channels = true;
  const auto began = Collectives::Clock::now();
  ASSERT_TRUE(open(3, std::move(options)));
  const core::Collective some =
      test::on_plain_cluster(*cluster, core::ring_all_reduce(3, 100), 100);
  const core::Collective none = test::on_plain_cluster(*cluster, core::ring_all_reduce(3, 0), 0);
  for (std::uint32_t p = 0; p < 4; ++p)
    add(p, p == 1 ? none : some, Operation::kSum);  // an empty collective is not passed to NCCL
  for (std::uint32_t p = 0; p < 4; ++p) {
    for (Rank r = 0; r < 3; ++r) run_->start({1, p}, r);
  }
  const auto finished = finish(12);
  ASSERT_TRUE(finished) << finished.error().message();
  run_->drain();
  std::map<std::tuple<std::uint32_t, Rank, int>, int> reports;
  for (const ChannelDone& done : done_.channels) {
    ++reports[{done.collective.pack, done.rank, done.channel}];
    EXPECT_EQ(done.collective.step, 1u);
    EXPECT_EQ(done.part, 0);
    EXPECT_LE(done.start, done.end);
    EXPECT_GE(done.start, began);
    EXPECT_LE(done.end, Collectives::Clock::now());
  }
  EXPECT_EQ(reports.size(), 3u * 3 * 2) << "packs, ranks, channels";
  for (const auto& [what, times] : reports) {
    EXPECT_NE(std::get<0>(what), 1u);
    EXPECT_EQ(times, 1);
  }
}

/// Sets the faults of the fake's reports about channels, for the lifetime of this object.
class Tells {
 public:
  explicit Tells(const char* what) { ::setenv("TUTTI_FAKE_NCCL_TELLS", what, 1); }
  ~Tells() { ::unsetenv("TUTTI_FAKE_NCCL_TELLS"); }
};

/// Three ranks on fake GPUs, which reduce two packs.
class NcclChannels : public NcclOnFakeGpus {
 protected:
  void SetUp() override {
    NcclOptions options = in_all(3);
    options.follow_channels = true;
    ASSERT_TRUE(open(3, std::move(options)));
  }
  void reduce(std::uint32_t pack) {
    add(pack, collective_, Operation::kSum);
    for (Rank r = 0; r < 3; ++r) run_->start({1, pack}, r);
    const auto finished = finish(3 * (pack + 1));
    ASSERT_TRUE(finished) << finished.error().message();
    run_->drain();
  }
  std::shared_ptr<const core::Cluster> cluster_ = test::plain_cluster(3);
  core::Collective collective_ =
      test::on_plain_cluster(*cluster_, core::ring_all_reduce(3, 100), 100);
};

TEST_F(NcclChannels, NotesThatNcclReportsNoChannels) {
  const Tells tells("nothing");
  EXPECT_THAT(run_->notes(),
              testing::Not(testing::Contains(HasSubstr("the recording needs NCCL 2.27 or later"))));
  reduce(0);
  EXPECT_THAT(run_->notes(),
              testing::Contains(HasSubstr("the recording needs NCCL 2.27 or later")));
  EXPECT_TRUE(done_.channels.empty());
}

TEST_F(NcclChannels, AnUnexpectedOperationEndsTheRecording) {
  reduce(0);
  EXPECT_EQ(done_.channels.size(), 6u);
  const Tells tells("others");
  reduce(1);
  EXPECT_EQ(done_.channels.size(), 6u) << "channels of other operations";
  EXPECT_THAT(run_->notes(), testing::Contains(HasSubstr("unexpected operation")));
}

TEST_F(NcclChannels, LateReportsAreCounted) {
  const Tells tells("late");
  reduce(0);
  EXPECT_EQ(done_.channels.size(), 3u);
  EXPECT_THAT(run_->final_notes(),
              testing::ElementsAre(testing::ContainsRegex(" 3 .*channels of ranks 0, 1, 2 ")));
  reduce(1);  // the late reports arrive before this
  EXPECT_THAT(run_->final_notes(),
              testing::ElementsAre(testing::ContainsRegex(" 6 .*channels of ranks 0, 1, 2 ")));
  std::map<std::pair<std::uint32_t, Rank>, int> reports;
  for (const ChannelDone& done : done_.channels) ++reports[{done.collective.pack, done.rank}];
  EXPECT_EQ(reports.size(), 6u);
  for (const auto& [what, times] : reports) EXPECT_EQ(times, 1);
}

TEST_F(NcclOnFakeGpus, RefusesAnIdOfAnotherLength) {
  FakeCuda::the().reset(gpus_of(4));
  devices_ = devices_of(FakeCuda::the().api(), 2, 4);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{5}, std::size_t{127}, std::size_t{129}}) {
    NcclOptions options = in_all(2);
    options.ranks = in_order(2);
    options.id = std::string(size, 'x');
    const auto opened = NcclCollectives::open(fake_nccl_api(), transport_, *devices_,
                                              std::move(options), [] { return true; });
    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().message(),
                testing::ContainsRegex(fmt::format(" {} bytes.* 128", size)));
  }
}

TEST_F(NcclOnFakeGpus, KeepsAnotherProfilerWithANote) {
  ::setenv("NCCL_PROFILER_PLUGIN", "libtheirs.so", 1);
  NcclOptions options = in_all(2);
  options.follow_channels = true;
  ASSERT_TRUE(open(2, std::move(options)));
  EXPECT_THAT(run_->notes(), testing::Contains(HasSubstr("another profiler")));
  ::unsetenv("NCCL_PROFILER_PLUGIN");
}

TEST_F(NcclOnFakeGpus, NotesNameVersionAndSettings) {
  ::setenv("NCCL_TUTTI_TEST", "7", 1);
  ASSERT_TRUE(open(2, in_all(2)));
  EXPECT_THAT(run_->notes(), testing::ElementsAre(testing::AllOf(HasSubstr("NCCL 2.28.9"),
                                                                 HasSubstr("NCCL_TUTTI_TEST=7"))));
  ::unsetenv("NCCL_TUTTI_TEST");
}

enum class Which { kFake, kReal };

/// Compares the wrapper of each collective with the collective's definition.
class NcclCalls : public testing::TestWithParam<Which> {
 protected:
  void SetUp() override {
    if (GetParam() == Which::kFake) {
      FakeCuda::the().reset(gpus_of(3));
      cuda_ = &FakeCuda::the().api();
      nccl_ = &fake_nccl_api();
      ranks_ = 3;
      return;
    }
    const auto cuda = CudaDevices::load();
    if (!cuda) GTEST_SKIP() << cuda.error().message();
    const auto count = CudaDevices::count(**cuda);
    if (!count) GTEST_SKIP() << count.error().message();
    const auto nccl = NcclCollectives::load();
    if (!nccl) GTEST_SKIP() << nccl.error().message();
    cuda_ = *cuda;
    nccl_ = *nccl;
    ranks_ = std::min(*count, 8);
  }

  /// Polls until no operation is in progress. Returns false if a communicator has failed.
  bool settle(const std::vector<TuttiNcclCommunicator*>& all) {
    for (TuttiNcclCommunicator* const communicator : all) {
      int state = kTuttiNcclInProgress;
      while (state == kTuttiNcclInProgress) state = nccl_->state(communicator);
      if (state != 0) return false;
    }
    return true;
  }

  int to_next(int rank, TuttiNcclCommunicator* communicator, const void* in, void* out,
              std::int64_t count, void* stream) {
    const int sent = nccl_->send(communicator, in, count, 1, (rank + 1) % ranks_, stream);
    const int previous = (rank + ranks_ - 1) % ranks_;
    return sent != 0 && sent != kTuttiNcclInProgress
               ? sent
               : nccl_->receive(communicator, out, count, 1, previous, stream);
  }

  const TuttiCudaApi* cuda_ = nullptr;
  const TuttiNcclApi* nccl_ = nullptr;
  int ranks_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Nccl, NcclCalls, testing::Values(Which::kFake, Which::kReal),
                         [](const auto& which) {
                           return which.param == Which::kFake ? "Fake" : "Real";
                         });

TEST_P(NcclCalls, EveryCollectiveGivesItsDefinedResult) {
  constexpr std::int64_t kCount = 1001;
  const auto devices = devices_of(*cuda_, ranks_, ranks_);
  std::vector<char> id(kTuttiNcclIdBytes);
  ASSERT_EQ(nccl_->make_id(id.data()), 0);
  std::vector<TuttiNcclCommunicator*> all(static_cast<std::size_t>(ranks_), nullptr);
  const auto started = [](int answer) { return answer == 0 || answer == kTuttiNcclInProgress; };
  ASSERT_TRUE(started(nccl_->group_begin()));
  for (int r = 0; r < ranks_; ++r)
    ASSERT_TRUE(started(nccl_->make_communicator(r, id.data(), ranks_, r, r, &all[r])));
  ASSERT_TRUE(started(nccl_->group_end()));
  ASSERT_TRUE(settle(all));
  const int root = ranks_ - 1;
  const auto n = static_cast<std::size_t>(ranks_);
  class Tickets : public WorkListener {
   public:
    void worked(Ticket) override { ++count; }
    std::size_t count = 0;
  };
  for (const char* const what :
       {"all-reduce", "reduce-scatter", "all-gather", "broadcast", "reduce", "sends"}) {
    std::vector<Devices::Memory> from, to;
    const std::int64_t most = kCount * ranks_;
    for (Rank r = 0; r < ranks_; ++r) {
      std::vector<float> inputs(static_cast<std::size_t>(most));
      for (std::int64_t e = 0; e < most; ++e) inputs[e] = static_cast<float>(input(r, e));
      from.push_back(devices->take(r, most * 4, false));
      to.push_back(devices->take(r, most * 4, false));
      devices->copy_now(from.back().get(), reinterpret_cast<const std::byte*>(inputs.data()),
                        most * 4);
    }
    const std::string name = what;
    ASSERT_TRUE(started(nccl_->group_begin()));
    for (std::size_t r = 0; r < n; ++r) {
      void* const stream = devices->outside_stream(static_cast<Rank>(r));
      const void* const in = from[r].get();
      void* const out = to[r].get();
      ASSERT_TRUE(started(
          name == "all-reduce"       ? nccl_->all_reduce(all[r], in, out, kCount, 1, 0, stream)
          : name == "reduce-scatter" ? nccl_->reduce_scatter(all[r], in, out, kCount, 1, 0, stream)
          : name == "all-gather"     ? nccl_->all_gather(all[r], in, out, kCount, 1, stream)
          : name == "broadcast"      ? nccl_->broadcast(all[r], in, out, kCount, 1, root, stream)
          : name == "reduce"         ? nccl_->reduce(all[r], in, out, kCount, 1, 0, root, stream)
                             : to_next(static_cast<int>(r), all[r], in, out, kCount, stream)));
    }
    ASSERT_TRUE(started(nccl_->group_end()));
    ASSERT_TRUE(settle(all));
    Tickets tickets;
    for (Rank r = 0; r < ranks_; ++r) devices->mark(r, static_cast<Ticket>(r));
    while (tickets.count < n) ASSERT_TRUE(devices->poll(tickets));
    for (Rank r = 0; r < ranks_; ++r) {
      if (name == "reduce" && r != root) continue;
      const std::int64_t length = name == "all-gather" ? most : kCount;
      std::vector<float> got(static_cast<std::size_t>(length));
      devices->copy_now(reinterpret_cast<std::byte*>(got.data()), to[r].get(), length * 4);
      for (std::int64_t e = 0; e < length; ++e) {
        double expected = 0;
        if (name == "broadcast") expected = input(root, e);
        if (name == "sends") expected = input((r + ranks_ - 1) % ranks_, e);
        if (name == "all-gather") expected = input(static_cast<Rank>(e / kCount), e % kCount);
        for (Rank k = 0; k < ranks_ && (name == "all-reduce" || name == "reduce"); ++k)
          expected += input(k, e);
        for (Rank k = 0; k < ranks_ && name == "reduce-scatter"; ++k)
          expected += input(k, r * kCount + e);
        ASSERT_EQ(static_cast<double>(got[e]), expected)
            << name << ", rank " << r << ", element " << e;
      }
    }
  }
  for (TuttiNcclCommunicator* const communicator : all)
    EXPECT_TRUE(started(nccl_->finalize(communicator)));
  EXPECT_TRUE(settle(all));
  for (TuttiNcclCommunicator* const communicator : all)
    EXPECT_TRUE(started(nccl_->discard(communicator)));
}

}  // namespace
}  // namespace tutti::real
