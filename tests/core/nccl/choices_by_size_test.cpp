// NCCL's choices for ranges of sizes, compared with the choice for single sizes.

#include "core/nccl/tuning/choices_by_size.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/nccl/collective_time.h"
#include "core/scenario/scenario.h"
#include "tests/support/clusters.h"
#include "tests/support/shipped.h"

namespace tutti::core::nccl {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

Communicator communicator_of(const std::string& machine, int nodes, const std::string& version) {
  const Library& library = test::shipped_library();
  const auto read = read_scenario(
      fmt::format(
          "cluster {{ workers {{ machine: \"{}\" count: {} }} network {{ kind: ONE_SWITCH link: "
          "\"hdr\" }} }}\n"
          "workload {{ variable {{ name: \"a\" shape: 1000 }} forward_ms: 1 backward_ms: 2 }}\n"
          "strategy {{ algorithm: \"nccl\" nccl {{ version: \"{}\" }} }}",
          machine, nodes, version),
      "s.textproto", library);
  EXPECT_TRUE(read) << (read ? "" : read.error().message());
  return *read->plan.collective(read->plan.packs.front()).nccl->communicator;
}

TEST(ChoicesBySize, ListNcclsChoiceForEverySize) {
  Random random(5);
  for (const auto& [machine, nodes, version] :
       {std::tuple("dgx1-v100", 2, "2.28.9"), std::tuple("dgx-a100", 3, "2.28.9"),
        std::tuple("hgx-h100", 1, "2.28.9"), std::tuple("hgx-h100", 16, "2.21.5"),
        std::tuple("pcie4-a100", 1, "2.7.8"), std::tuple("dgx-a100", 2, "2.17.1")}) {
    const Communicator communicator = communicator_of(machine, nodes, version);
    const Model model = tune(communicator, Settings());
    for (std::size_t f = 0; f < kFunctions; ++f) {
      SCOPED_TRACE(fmt::format("{} × {}, {}, {}", nodes, machine, version, kFunctionNames[f]));
      Operation operation;
      operation.function = static_cast<Function>(f);
      const auto ranges = choices_by_size(communicator, model, operation);
      ASSERT_TRUE(ranges) << ranges.error().message();
      std::int64_t next = 0;
      std::vector<std::pair<std::int64_t, const ChoiceRange*>> sizes;
      for (const ChoiceRange& range : *ranges) {
        ASSERT_EQ(range.first, next) << "no gap, no overlap";
        ASSERT_LE(range.first, range.last);
        next = range.last == kLargest ? kLargest : range.last + 1;
        sizes.emplace_back(range.first, &range);
        sizes.emplace_back(range.last, &range);
        const auto width = static_cast<std::uint64_t>(range.last - range.first);
        for (int i = 0; i < 20 && width > 0; ++i)
          sizes.emplace_back(range.first + static_cast<std::int64_t>(random.below(width)), &range);
      }
      EXPECT_EQ(ranges->back().last, kLargest);
      for (const auto& [bytes, range] : sizes) {
        operation.bytes = bytes;
        const auto choice = choose(communicator, model, operation);
        ASSERT_TRUE(choice);
        EXPECT_EQ(to_string(choice->algorithm), to_string(range->choice.algorithm)) << bytes;
        EXPECT_EQ(to_string(choice->protocol), to_string(range->choice.protocol)) << bytes;
        EXPECT_EQ(choice->channels, range->choice.channels) << bytes;
      }
    }
  }
}

TEST(ChoicesBySize, FailIfVariablesExcludeAllChoices) {
  const Communicator communicator = communicator_of("dgx-a100", 2, "2.28.9");
  const auto settings = read_settings({{"NCCL_ALGO", "Tree"}}, communicator.version);
  ASSERT_TRUE(settings);
  Operation operation;
  operation.function = Function::kBroadcast;
  EXPECT_FALSE(choices_by_size(communicator, tune(communicator, *settings), operation));
  operation.function = Function::kAllReduce;
  EXPECT_TRUE(choices_by_size(communicator, tune(communicator, *settings), operation));
}

}  // namespace
}  // namespace tutti::core::nccl
