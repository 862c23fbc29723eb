// NCCL's cost model and choice. Graphs, bandwidths, latencies and choices are compared with golden
// cases from NCCL 2.28.9, and further tests cover channels, variables of the user, and groups of
// operations.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "core/nccl/aggregate.h"
#include "core/nccl/channels.h"
#include "core/nccl/settings.h"
#include "core/nccl/tuning/choice.h"
#include "core/nccl/tuning/model.h"
#include "tests/core/nccl/golden.h"
#include "tests/support/problems.h"

namespace tutti::core::nccl {
namespace {

using testing::ElementsAre;

using test::communicator_of;
using test::Data;
using test::nccl_case;
using test::nccl_cases;

std::string name(Algorithm algorithm, Protocol protocol) {
  return std::string(to_string(algorithm)) + "/" + std::string(to_string(protocol));
}

/// Compares single-precision numbers that were printed with nine digits.
void expect_same(double ours, double theirs, const std::string& what) {
  EXPECT_NEAR(ours, theirs, 3e-7 * std::abs(theirs)) << what;
}

Settings settings_of(const std::vector<std::pair<std::string, std::string>>& variables,
                     Version version = kDefaultVersion) {
  const auto settings = read_settings(variables, version);
  EXPECT_TRUE(settings) << settings.error().message();
  return settings.value_or(Settings());
}

std::vector<std::string> refusal(const std::vector<std::pair<std::string, std::string>>& variables,
                                 Version version = kDefaultVersion) {
  return test::kinds_of(read_settings(variables, version));
}

Choice choice(const Communicator& comm, const Operation& operation, const Settings& settings = {}) {
  const auto chosen = choose(comm, tune(comm, settings), operation);
  EXPECT_TRUE(chosen) << chosen.error().message();
  return chosen.value_or(Choice());
}

TEST(NcclTuning, LatenciesAndBandwidthsMatchNccl) {
  int compared = 0;
  for (const Data& one : nccl_cases()) {
    const Communicator comm = communicator_of(one);
    const Model model = tune(comm, {});
    for (std::size_t f = 0; f < kFunctions; ++f) {
      const std::string function(kFunctionNames[f]);
      const Data theirs = one["model"][function];
      std::size_t enabled = 0;
      for (std::size_t a = 0; a < kAlgorithms; ++a) {
        for (std::size_t p = 0; p < kProtocols; ++p) {
          const Entry& ours = model.entries[f][a][p];
          const std::string cell = name(static_cast<Algorithm>(a), static_cast<Protocol>(p));
          const std::string what = one["case"].text() + " " + function + " " + cell;
          EXPECT_EQ(ours.bandwidth > 0, theirs.has(cell)) << what << (ours.off ? ours.off : "");
          if (!theirs.has(cell)) continue;
          ++enabled;
          expect_same(ours.latency_us, theirs[cell].items()[0].real(), what);
          expect_same(ours.bandwidth, theirs[cell].items()[1].real(), what);
        }
      }
      EXPECT_EQ(enabled, theirs.value().fields.size());
      compared += static_cast<int>(enabled);
    }
  }
  EXPECT_GT(compared, 900);
}

TEST(NcclTuning, ThreadsAndThresholdsMatchNccl) {
  for (const Data& one : nccl_cases()) {
    const Model model = tune(communicator_of(one), {});
    for (std::size_t a = 0; a < kAlgorithms; ++a) {
      const std::string algorithm(kAlgorithmNames[a]);
      const auto threads = one["maxThreads"][algorithm].numbers();
      const auto thresholds = one["threadThresholds"][algorithm].numbers();
      for (std::size_t p = 0; p < kProtocols; ++p) {
        EXPECT_EQ(model.max_threads[a][p], threads[p]) << one["case"].text() << algorithm << p;
        EXPECT_EQ(model.thread_thresholds[a][p], thresholds[p])
            << one["case"].text() << algorithm << p;
      }
    }
  }
}

TEST(NcclTuning, ChoicesMatchNcclForAllCasesSizesAndCollectives) {
  int compared = 0;
  for (const Data& one : nccl_cases()) {
    const Communicator comm = communicator_of(one);
    const Model model = tune(comm, {});
    for (std::size_t f = 0; f < kFunctions; ++f) {
      for (const Data& row : one["choice"][std::string(kFunctionNames[f])].items()) {
        const auto cells = row.items();
        const Operation operation{static_cast<Function>(f), cells[0].number()};
        const auto chosen = choose(comm, model, operation);
        ASSERT_TRUE(chosen);
        const std::string what =
            one["case"].text() + " " + std::string(kFunctionNames[f]) + " " + cells[0].text();
        EXPECT_EQ(name(chosen->algorithm, chosen->protocol), cells[1].text()) << what;
        EXPECT_EQ(chosen->channels, cells[3].number()) << what;
        EXPECT_EQ(chosen->threads, cells[4].number()) << what;
        EXPECT_NEAR(chosen->estimate_us, cells[2].real(), 1e-4 * cells[2].real()) << what;
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, 58 * 31 * 5);
}

TEST(NcclChannels, MatchNccl) {
  for (const Data& one : nccl_cases()) {
    Communicator comm = communicator_of(one);
    comm.channels = comm.nvls_channels = -1;
    count_channels(comm, {});
    EXPECT_EQ(comm.channels, one["nChannels"].number()) << one["case"].text();
    EXPECT_EQ(comm.nvls_channels, one["nvlsChannels"].number()) << one["case"].text();
  }
}

TEST(NcclChannels, AreWithinTheUsersLimits) {
  Communicator comm = communicator_of(nccl_case("hgxh100-n1"));
  count_channels(comm, settings_of({{"NCCL_MAX_NCHANNELS", "8"}}));
  EXPECT_EQ(comm.channels, 8);
  count_channels(comm, settings_of({{"NCCL_MIN_NCHANNELS", "32"}, {"NCCL_NVLS_NCHANNELS", "12"}}));
  EXPECT_EQ(comm.channels, 32);
  EXPECT_EQ(comm.nvls_channels, 12);
  count_channels(comm, settings_of({{"NCCL_NVLS_ENABLE", "0"}}));
  EXPECT_EQ(comm.nvls_channels, 0);
}

/// Expects these latencies, bandwidths and times of the candidates, which were computed by hand
/// from the published formulas.
void expect_candidates(const Communicator& comm, const Operation& operation,
                       const std::map<std::string, std::array<double, 3>>& expected) {
  std::size_t had = 0;
  for (const Candidate& ours : candidates(comm, tune(comm, {}), operation)) {
    const std::string cell = name(ours.algorithm, ours.protocol);
    const auto theirs = expected.find(cell);
    EXPECT_EQ(ours.off == nullptr, theirs != expected.end()) << cell;
    if (ours.off || theirs == expected.end()) continue;
    ++had;
    EXPECT_NEAR(ours.latency_us, theirs->second[0], 0.0051) << cell;
    EXPECT_NEAR(ours.bandwidth, theirs->second[1], 0.00051) << cell;
    EXPECT_NEAR(ours.time_us, theirs->second[2], 1e-6 * theirs->second[2] + 0.00051) << cell;
  }
  EXPECT_EQ(had, expected.size());
}

TEST(NcclTuning, OneMebibyteOnEightH100) {
  expect_candidates(communicator_of(nccl_case("hgxh100-n1")), {Function::kAllReduce, 1 << 20},
                    {{"Tree/LL", {15.20, 21.789, 63.323}},
                     {"Tree/LL128", {31.50, 77.280, 45.069}},
                     {"Tree/Simple", {64.40, 82.800, 77.064}},
                     {"Ring/LL", {15.00, 80.571, 28.014}},
                     {"Ring/LL128", {40.60, 189.257, 46.140}},
                     {"Ring/Simple", {56.00, 205.714, 61.097}},
                     {"NVLS/Simple", {25.00, 272.000, 28.855}}});
}

TEST(NcclTuning, TheSameGraphsUnderAnOlderVersion) {
  Communicator comm = communicator_of(nccl_case("hgxh100-n2"));
  comm.version = {2, 21, 5};
  expect_candidates(comm, {Function::kAllReduce, 1 << 24},
                    {{"Tree/LL", {25.20, 14.918, 1149.867}},
                     {"Tree/LL128", {48.50, 112.302, 197.894}},
                     {"Tree/Simple", {448.00, 98.532, 618.272}},
                     {"Ring/LL", {43.40, 20.800, 849.997}},
                     {"Ring/LL128", {79.40, 156.587, 186.543}},
                     {"Ring/Simple", {152.80, 204.800, 295.840}},
                     {"NVLSTree/Simple", {53.00, 266.667, 115.915}}});
}

TEST(NcclTuning, SumsOf8BitFloatsOverManyRanksAvoidRings) {
  const Communicator comm = communicator_of(nccl_case("hgxh100-n2"));
  const Operation operation{Function::kAllReduce, 1 << 24, ElementType::kFloat8e4m3};
  for (const Candidate& candidate : candidates(comm, tune(comm, {}), operation)) {
    if (candidate.algorithm == Algorithm::kRing) {
      EXPECT_GT(candidate.time_us, 1e5);
    }
  }
  // NVLS does not support 8-bit types either, so only trees remain.
  EXPECT_EQ(choice(comm, operation).algorithm, Algorithm::kTree);
}

TEST(NcclTuning, NvlsSupportsSumsButNotMaximaOfFloats) {
  const Communicator comm = communicator_of(nccl_case("hgxh100-n1"));
  EXPECT_EQ(choice(comm, {Function::kAllReduce, 1 << 28}).algorithm, Algorithm::kNvls);
  EXPECT_EQ(choice(comm, {Function::kAllReduce, 1 << 28, ElementType::kFloat32, Reduction::kMax})
                .algorithm,
            Algorithm::kRing);
  EXPECT_EQ(choice(comm, {Function::kAllReduce, 1 << 28, ElementType::kFloat16, Reduction::kMax})
                .algorithm,
            Algorithm::kNvls);
}

TEST(NcclTuning, OneRankTakesNoTime) {
  const auto chosen = choose({}, {}, {Function::kAllReduce, 1 << 20});
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->estimate_us, 0);
}

TEST(NcclSettings, ChooseTheRequestedAlgorithm) {
  const Communicator comm = communicator_of(nccl_case("hgxh100-n1"));
  const Operation large{Function::kAllReduce, 1 << 28};
  const auto with = [&](const std::string& variable, const std::string& value) {
    const Choice chosen = choice(comm, large, settings_of({{variable, value}}));
    return name(chosen.algorithm, chosen.protocol);
  };
  EXPECT_EQ(with("NCCL_ALGO", "ring"), "Ring/Simple");
  EXPECT_EQ(with("NCCL_ALGO", "^nvls"), "Ring/Simple");
  EXPECT_EQ(with("NCCL_ALGO", "Tree,Ring"), "Ring/Simple");
  EXPECT_EQ(with("NCCL_ALGO", "TREE"), "Tree/Simple");
  EXPECT_EQ(with("NCCL_ALGO", "ring;allreduce:tree"), "Tree/Simple");
  EXPECT_EQ(with("NCCL_ALGO", "allgather:ring"), "NVLS/Simple");
  EXPECT_EQ(with("NCCL_PROTO", "LL"), "Ring/LL");
  EXPECT_EQ(with("NCCL_PROTO", "^Simple"), "Ring/LL128");
}

TEST(NcclSettings, Ll128CanBeRequestedIfItIsOffByDefault) {
  const Communicator comm = communicator_of(nccl_case("l40s8_amd-n1"));
  const Operation large{Function::kAllReduce, 1 << 28};
  EXPECT_EQ(choice(comm, large).protocol, Protocol::kSimple);
  EXPECT_EQ(choice(comm, large, settings_of({{"NCCL_PROTO", "LL128"}})).protocol, Protocol::kLl128);
}

TEST(NcclSettings, IfNoAlgorithmIsLeftNewVersionsFailAndOldOnesUseRings) {
  Communicator comm = communicator_of(nccl_case("dgxa100-n1"));
  const Operation operation{Function::kBroadcast, 1 << 20};
  const Settings settings = settings_of({{"NCCL_ALGO", "Tree"}});
  const auto refused = choose(comm, tune(comm, settings), operation);
  EXPECT_THAT(test::kinds_of(refused), ElementsAre("conflict NCCL_ALGO"));
  for (const Version version :
       {Version{2, 10, 3}, Version{2, 18, 3}, Version{2, 21, 5}, Version{2, 23, 4}}) {
    comm.version = version;
    EXPECT_EQ(choice(comm, operation, settings).algorithm, Algorithm::kRing) << to_string(version);
  }
}

TEST(NcclSettings, ThreadsAreLimited) {
  const Communicator comm = communicator_of(nccl_case("hgxh100-n1"));
  const Operation large{Function::kAllGather, 1 << 28};
  EXPECT_EQ(choice(comm, large).threads, 544);
  EXPECT_EQ(choice(comm, large, settings_of({{"NCCL_NTHREADS", "256"}})).threads, 288);
  EXPECT_EQ(choice(comm, large, settings_of({{"NCCL_NTHREADS", "100"}})).threads,
            544);  // not a multiple of 32
  EXPECT_EQ(choice(comm, large, settings_of({{"NCCL_NTHREADS", "32"}})).threads,
            96);  // at least 64
}

TEST(NcclSettings, ErrorsAreReported) {
  EXPECT_THAT(refusal({{"NCCL_ALGO", "rnig"}}), ElementsAre("unknown-name NCCL_ALGO"));
  EXPECT_THAT(refusal({{"NCCL_PROTO", "LL256"}}), ElementsAre("unknown-name NCCL_PROTO"));
  EXPECT_THAT(refusal({{"NCCL_ALGO", "ring;tree"}}), ElementsAre("syntax NCCL_ALGO"));
  EXPECT_THAT(refusal({{"NCCL_ALGO", "ring;allreduce:tree"}}), testing::IsEmpty());
  EXPECT_THAT(refusal({{"NCCL_ALGO", "reduceall:tree"}}), ElementsAre("unknown-name NCCL_ALGO"));
  EXPECT_THAT(refusal({{"NCCL_MAX_NCHANNELS", "many"}}),
              ElementsAre("wrong-type NCCL_MAX_NCHANNELS"));
  EXPECT_THAT(refusal({{"NCCL_MAX_NCHANNELS", "0"}}), ElementsAre("too-small NCCL_MAX_NCHANNELS"));
  EXPECT_THAT(refusal({{"NCCL_P2P_DISABLE", "yes"}}), ElementsAre("wrong-type NCCL_P2P_DISABLE"));
  EXPECT_THAT(refusal({{"NCCL_THREAD_THRESHOLDS", "1 2 3 4 5 6 7"}}),
              ElementsAre("syntax NCCL_THREAD_THRESHOLDS"));
  EXPECT_THAT(refusal({{"NCCL_DEBUG", "INFO"}}), ElementsAre("unknown-name NCCL_DEBUG"));
  // Before 2.24, NCCL ignored such a mistake.
  EXPECT_THAT(refusal({{"NCCL_ALGO", "rnig,ring"}}, {2, 21, 5}), testing::IsEmpty());
}

TEST(NcclVersions, AreReadInCommonNotations) {
  const auto read = [](const char* text) { return parse_version(text).value_or(Version{0, 0, 0}); };
  EXPECT_EQ(read("2.18.3"), (Version{2, 18, 3}));
  EXPECT_EQ(read("22902"), (Version{2, 29, 2}));
  EXPECT_EQ(read("2804"), (Version{2, 8, 4}));
  EXPECT_EQ(read("2.22.3+cuda12.6"), (Version{2, 22, 3}));
  EXPECT_GT(read("2.18"), (Version{2, 18, 6}));
  EXPECT_LT(read("2.18"), (Version{2, 19, 0}));
  for (const char* wrong : {"", "two", "2", "2.", "2.4.8", "2.x", "RCCL"})
    EXPECT_FALSE(parse_version(wrong)) << wrong;
}

Communicator h100() { return communicator_of(nccl_case("hgxh100-n1")); }

TEST(NcclGroups, TenEqualOperationsAreOneAggregate) {
  const std::vector<Task> group(10, {Function::kAllReduce, (1 << 20) / 4});
  const auto aggregates = aggregate(group, h100());
  ASSERT_EQ(aggregates.size(), 1U);
  EXPECT_EQ(aggregates[0].operation.bytes, 10 << 20);
  EXPECT_EQ(aggregates[0].operation.pipelined, 1);
  const Choice chosen = choice(h100(), aggregates[0].operation);
  EXPECT_EQ(chosen.algorithm, Algorithm::kNvls);
  EXPECT_NEAR(chosen.estimate_us, 63.55058670043945, 1e-4);
}

TEST(NcclGroups, AHundredSmallOperationsTakeFiveRoundsOfARing) {
  const std::vector<Task> group(100, {Function::kAllReduce, 1024});
  const auto aggregates = aggregate(group, h100());
  ASSERT_EQ(aggregates.size(), 1U);
  EXPECT_EQ(aggregates[0].operation.pipelined, 5);
  std::map<std::string, double> times;
  for (const Candidate& one : candidates(h100(), tune(h100(), {}), aggregates[0].operation))
    times[name(one.algorithm, one.protocol)] = one.time_us;
  EXPECT_NEAR(times["Ring/LL"], 80.084, 1e-3);
  EXPECT_NEAR(times["Ring/LL128"], 205.164, 1e-3);
  EXPECT_NEAR(times["Ring/Simple"], 281.991, 1e-3);
  EXPECT_NEAR(times["Tree/LL"], 38.698, 1e-3);
  const Choice chosen = choice(h100(), aggregates[0].operation);
  EXPECT_EQ(chosen.algorithm, Algorithm::kNvls);
  EXPECT_NEAR(chosen.estimate_us, 26.505882263183594, 1e-4);
}

TEST(NcclGroups, OperationsOfOtherKindsOrFourTimesTheSizeAreSeparate) {
  const std::vector<Task> group = {{Function::kAllReduce, 1 << 20},
                                   {Function::kAllReduce, 1 << 10},
                                   {Function::kAllReduce, 1 << 11},
                                   {Function::kAllReduce, 1 << 11, ElementType::kFloat16},
                                   {Function::kAllGather, 1 << 10, ElementType::kFloat16},
                                   {Function::kAllGather, 1 << 9, ElementType::kFloat32}};
  std::vector<std::vector<std::size_t>> parts;
  for (const Aggregate& one : aggregate(group, h100())) parts.push_back(one.tasks);
  // All-gathers only move bytes, so calls with different types can share a group.
  EXPECT_THAT(parts, testing::UnorderedElementsAre(
                         std::vector<std::size_t>{1, 2}, std::vector<std::size_t>{0},
                         std::vector<std::size_t>{3}, std::vector<std::size_t>{4, 5}));
}

}  // namespace
}  // namespace tutti::core::nccl
