// PAT algorithms. The checker proves them for many numbers of ranks. The messages and bytes of
// every dimension are compared with the binomial trees that PAT consists of.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "core/nccl/lowering/pat_order.h"
#include "core/schedule/checker.h"
#include "tests/core/nccl/communicators.h"
#include "tests/support/clusters.h"

namespace tutti::core::nccl {
namespace {

using test::hopper;

LoweringRequest request(CollectiveKind kind, std::int64_t elements, std::int64_t planned,
                        int channels = 2) {
  return {kind,
          {Algorithm::kPat, Protocol::kSimple, channels, 640, 0},
          DataType::kFloat32,
          elements,
          planned,
          0};
}

void prove(int ranks, const LoweringRequest& request, Version version = kDefaultVersion) {
  const auto schedule = lower(hopper(ranks, 1, version), request);
  ASSERT_TRUE(schedule) << schedule.error().message();
  EXPECT_EQ(check(**schedule, Contract::of(request.kind, ranks, request.elements, 0, false)),
            std::vector<Violation>())
      << to_string(request.kind) << " between " << ranks << " ranks, " << request.elements
      << " for " << request.planned;
}

TEST(Pat, IsProvedForAllNumbersOfRanksBefore2_26) {
  for (const CollectiveKind kind : {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter}) {
    for (const int ranks : {2, 3, 5, 6, 7, 8, 11, 13, 21, 33}) {
      for (const std::int64_t block : {3, 9'000, 40'000, 3'000'000})
        prove(ranks, request(kind, 3 * ranks, block * ranks), {2, 24, 3});
    }
  }
}

TEST(Pat, IsProvedForAllNumbersOfRanks) {
  for (const CollectiveKind kind : {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter}) {
    for (const int ranks : {2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 17, 24, 31, 33}) {
      // The sizes range from so small that all blocks are aggregated to so large that each chunk
      // fills a slot and there are several loops.
      for (const std::int64_t block : {3, 9'000, 40'000, 3'000'000})
        prove(ranks, request(kind, 3 * ranks, block * ranks));
    }
    prove(64, request(kind, 2 * 64, 0));
    prove(100, request(kind, 100, 20'000 * 100));
  }
}

std::string text(const PatStep& step) {
  std::string line = fmt::format("{} ", step.ahead);
  for (const PatStep::ChunkLocation* place : {&step.from, &step.to})
    line += place->dimension < 0
                ? "- "
                : fmt::format("{}.{}.{} ", place->dimension, place->message, place->place);
  return line + (step.fresh ? "f" : "") + (step.from_through ? "t" : "") +
         (step.to_complete ? "c" : "");
}

using OrderOf = PatOrder (*)(int, std::int64_t, std::int64_t);

/// Compares all cases of a file, and returns their number.
std::size_t compare(const std::string& name, OrderOf reduce_scatter) {
  std::ifstream file(test::source_folder() + "/tests/reference/nccl/" + name);
  EXPECT_TRUE(file);
  PatOrder order;
  std::size_t at = 0, cases = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    if (std::isalpha(static_cast<unsigned char>(line.front())) != 0) {
      EXPECT_EQ(at, order.steps.size());
      std::istringstream words(line);
      std::string function;
      int ranks = 0;
      std::int64_t slot = 0, part = 0;
      words >> function >> ranks >> slot >> part;
      order = (function == "all_gather" ? pat_all_gather : reduce_scatter)(ranks, slot, part);
      at = 0;
      ++cases;
      continue;
    }
    if (at >= order.steps.size()) {
      ADD_FAILURE() << "case " << cases << " goes on with " << line;
      return cases;
    }
    EXPECT_EQ(text(order.steps[at]), line) << "case " << cases << ", step " << at;
    ++at;
  }
  EXPECT_EQ(at, order.steps.size());
  return cases;
}

TEST(Pat, StepsMatchNcclsCode) {
  EXPECT_EQ(compare("pat-2.28.9.txt", pat_reduce_scatter), 18U);
  EXPECT_EQ(compare("pat-2.25.1.txt", pat_reduce_scatter_before_2_26), 12U);
}

TEST(Pat, IsUnchangedSince2_25ForPowersOfTwo) {
  for (const int ranks : {2, 4, 8, 16, 32, 64}) {
    for (const std::int64_t part : {4, 20'000, 100'000, 1 << 20}) {
      const PatOrder now = pat_reduce_scatter(ranks, 524288, part);
      const PatOrder before = pat_reduce_scatter_before_2_26(ranks, 524288, part);
      ASSERT_EQ(now.steps.size(), before.steps.size());
      for (std::size_t i = 0; i < now.steps.size(); ++i)
        EXPECT_EQ(text(now.steps[i]), text(before.steps[i]));
    }
  }
}

/// The messages and blocks that a rank sends in a loop, by dimension.
struct Sent {
  int messages = 0;
  int blocks = 0;
  bool operator==(const Sent&) const = default;
};
std::map<int, Sent> sent(const PatOrder& order) {
  std::map<int, Sent> by_dimension;
  std::map<int, std::vector<std::pair<int, int>>> seen;
  for (const PatStep& step : order.steps) {
    if (step.to.dimension < 0) continue;
    Sent& here = by_dimension[step.to.dimension];
    here.messages += static_cast<int>(step.to_complete);
    const std::pair place{step.to.message, step.to.place};
    auto& places = seen[step.to.dimension];
    if (std::find(places.begin(), places.end(), place) == places.end()) {
      places.push_back(place);
      ++here.blocks;
    }
  }
  return by_dimension;
}

TEST(Pat, EveryDimensionSendsTheBlocksOfItsBinomialTree) {
  // With 2^k ranks, dimension d carries n / 2^(d + 1) blocks, half as many as dimension d - 1. The
  // total is n - 1.
  for (const int ranks : {2, 4, 8, 16, 64, 256}) {
    for (const auto order : {pat_all_gather, pat_reduce_scatter}) {
      for (const std::int64_t part : {4, 20'000, 1 << 20}) {
        const PatOrder found = order(ranks, 524288, part);
        int all = 0;
        for (const auto& [dimension, here] : sent(found)) {
          EXPECT_EQ(here.blocks, ranks >> (dimension + 1))
              << ranks << " ranks, dimension " << dimension;
          EXPECT_EQ(here.messages, (here.blocks + found.per_message - 1) / found.per_message);
          all += here.blocks;
        }
        EXPECT_EQ(all, ranks - 1);
      }
    }
  }
}

TEST(Pat, SmallBuffersNeedALogarithmicNumberOfMessages) {
  for (const auto order : {pat_all_gather, pat_reduce_scatter}) {
    const PatOrder small = order(64, 524288, 64);
    EXPECT_EQ(small.per_message, 32);
    for (const auto& [dimension, here] : sent(small)) EXPECT_EQ(here.messages, 1);
    EXPECT_EQ(sent(small).size(), 6U);
    // A block that fills a slot is sent in a message of its own.
    const PatOrder large = order(64, 524288, 524288);
    EXPECT_EQ(large.per_message, 1);
    for (const auto& [dimension, here] : sent(large)) EXPECT_EQ(here.messages, 32 >> dimension);
  }
}

TEST(Pat, AllMessagesAreSentAndReceivedForAnyNumberOfRanks) {
  for (int ranks = 2; ranks < 70; ++ranks) {
    for (const auto order : {pat_all_gather, pat_reduce_scatter, pat_reduce_scatter_before_2_26}) {
      for (const std::int64_t part : {4, 20'000, 1 << 20}) {
        std::map<int, int> complete, through;
        int blocks = 0;
        const PatOrder found = order(ranks, 524288, part);
        for (const PatStep& step : found.steps) {
          complete[step.to.dimension] += static_cast<int>(step.to_complete);
          through[step.from.dimension] += static_cast<int>(step.from_through);
        }
        EXPECT_EQ(complete, through) << ranks;
        for (const auto& [dimension, here] : sent(found)) blocks += here.blocks;
        EXPECT_EQ(blocks, ranks - 1) << ranks;
      }
    }
  }
}

TEST(Pat, ALargeBufferHasNcclsNumberOfLoops) {
  // Each of 8 ranks contributes 64 MiB over 4 channels. A channel carries 16 MiB of each block in
  // chunks of 512 KiB, which takes 32 loops. In each loop, a rank sends 4, 2 and 1 blocks along the
  // three dimensions.
  const auto schedule = lower(hopper(8, 1), request(CollectiveKind::kAllGather, 8 << 24, 0, 4));
  ASSERT_TRUE(schedule);
  EXPECT_EQ((*schedule)->lanes(0), 4 * (1 + 2 * 3));
  for (const auto& [lane, messages] : {std::pair(1, 4), std::pair(3, 2), std::pair(5, 1)}) {
    EXPECT_EQ((*schedule)->steps(0, lane), 32 * messages);
    EXPECT_EQ((*schedule)->step(0, lane, 0).source.count * 4, 524288);
    EXPECT_EQ((*schedule)->step(0, lane, 0).to.rank(0, 8), 8 - (1 << (lane - 1) / 2));
  }
}

}  // namespace
}  // namespace tutti::core::nccl
