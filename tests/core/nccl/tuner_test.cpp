// Tuner plugins in NCCL's choice. The region tables of aws-ofi-nccl are compared with the plugin's
// own code, and tables from files with lines that are looked up by hand.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "core/nccl/tuner/aws_tuner.h"
#include "core/nccl/tuner/table_tuner.h"
#include "core/nccl/tuning/choices_by_size.h"
#include "tests/core/nccl/communicators.h"
#include "tests/support/clusters.h"

namespace tutti::core::nccl {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// Returns candidates for which every algorithm and protocol is possible.
std::vector<Candidate> everything() {
  std::vector<Candidate> all;
  for (std::size_t a = 0; a < kAlgorithms; ++a) {
    for (std::size_t p = 0; p < kProtocols; ++p)
      all.push_back({static_cast<Algorithm>(a), static_cast<Protocol>(p), 1, 1, 9});
  }
  return all;
}

Communicator of_size(int nodes, int gpus, Version version = kDefaultVersion) {
  Communicator comm;
  comm.version = version;
  comm.nodes = nodes;
  comm.ranks = nodes * gpus;
  return comm;
}

std::vector<std::vector<std::string>> rows_of(const std::string& file) {
  std::ifstream in(test::source_folder() + "/tests/reference/nccl/" + file);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream text(line);
    std::vector<std::string>& row = rows.emplace_back();
    for (std::string cell; std::getline(text, cell, ',');) row.push_back(cell);
  }
  EXPECT_GT(rows.size(), 1000u) << file;
  rows.erase(rows.begin());  // the titles
  return rows;
}

/// The expected choices were written by the plugin's own code.
TEST(AwsTuner, MatchesTheChoicesOfItsCode) {
  std::map<std::string, std::unique_ptr<AwsTuner>> tuners;
  int picked = 0;
  for (const auto& row : rows_of("aws-regions-1.21.1.csv")) {
    auto& tuner = tuners[row[0]];
    if (!tuner) tuner = std::make_unique<AwsTuner>(row[0]);
    const Communicator comm = of_size(std::stoi(row[3]), std::stoi(row[1]));
    const auto pick = tuner->pick(
        comm, {static_cast<Function>(std::stoi(row[2])), std::stoll(row[4])}, everything(), false);
    const int algorithm = std::stoi(row[5]), protocol = std::stoi(row[6]);
    ASSERT_EQ(pick.cell ? static_cast<int>(pick.cell->first) : -1, algorithm)
        << testing::PrintToString(row);
    ASSERT_EQ(pick.cell ? static_cast<int>(pick.cell->second) : -1, protocol)
        << testing::PrintToString(row);
    ASSERT_EQ(pick.channels.value_or(0), std::stoi(row[7])) << testing::PrintToString(row);
    picked += pick.cell.has_value();
  }
  EXPECT_GT(picked, 1000);
}

/// If the algorithm of a region is not possible, the next region that contains the call decides.
TEST(AwsTuner, SkipsRegionsWhoseAlgorithmIsImpossible) {
  const AwsTuner tuner("p5en.48xlarge");
  const Communicator comm = of_size(4, 1);
  std::vector<Candidate> all = everything();
  const Operation operation{Function::kAllGather, 4096};
  EXPECT_EQ(tuner.pick(comm, operation, all, false).cell,
            std::pair(Algorithm::kPat, Protocol::kSimple));
  for (Candidate& one : all) {
    if (one.algorithm == Algorithm::kPat) one.off = "not here";
  }
  EXPECT_FALSE(tuner.pick(comm, operation, all, false).cell);
}

TEST(AwsTuner, StatesWhenItMakesNoChoice) {
  const AwsTuner tuner("p5.48xlarge");
  EXPECT_THAT(tuner.why_not(of_size(4, 8)), IsEmpty());
  EXPECT_THAT(tuner.why_not(of_size(2, 8)), HasSubstr("one or two nodes"));
  EXPECT_THAT(tuner.why_not(of_size(4, 4)), HasSubstr("1, 2 and 8 GPUs"));
  EXPECT_THAT(tuner.why_not(of_size(4, 8, {2, 20, 5})), HasSubstr("2.21 or later"));
  EXPECT_FALSE(tuner.pick(of_size(2, 8), {Function::kAllReduce, 1024}, everything(), false).cell);
}

/// A region whose polygon has only two corners is a line, and points on the line are inside. Lines
/// are straight on logarithmic axes.
TEST(Regions, IncludeTheirEdges) {
  const Region line{Algorithm::kRing, Protocol::kLl, {{1000, 16}, {4000, 16}, {1000, 16}}};
  EXPECT_TRUE(holds(line, 1000, 16) && holds(line, 2000, 16) && holds(line, 4000, 16));
  EXPECT_FALSE(holds(line, 999, 16) || holds(line, 4001, 16) || holds(line, 2000, 17));
  const Region triangle{Algorithm::kRing, Protocol::kLl, {{1024, 8}, {1 << 20, 8}, {1024, 8192}}};
  EXPECT_TRUE(holds(triangle, 32768, 256)) << "in the middle of the long edge";
  EXPECT_FALSE(holds(triangle, 33000, 256));
  EXPECT_TRUE(holds(triangle, 32000, 256));
}

/// A communicator of Hopper nodes whose NCCL uses this tuner.
struct Tuned {
  Communicator comm;
  Model model;
  Tuned(int nodes, std::shared_ptr<const Tuner> tuner, Version version = kDefaultVersion,
        Settings settings = {})
      : comm(test::hopper(nodes, 8, version)) {
    settings.tuner = std::move(tuner);
    model = tune(comm, settings);
  }
  [[nodiscard]] Choice operator()(Function function, std::int64_t bytes, int pipelined = 1) const {
    const auto choice =
        choose(comm, model, {function, bytes, ElementType::kFloat32, Reduction::kSum, pipelined});
    EXPECT_TRUE(choice);
    return choice.value_or(Choice());
  }
};

TEST(TunedChoice, FollowsTheRegionTables) {
  const Tuned own(8, nullptr), aws(8, std::make_shared<AwsTuner>("p5.48xlarge"));
  // The table for P5 says: 64 ranks and 1 MiB use Tree with LL128, 64 ranks and 4 GiB use Ring with
  // Simple.
  const Choice small = aws(Function::kAllReduce, 1 << 20),
               large = aws(Function::kAllReduce, std::int64_t{4} << 30);
  EXPECT_EQ(small.algorithm, Algorithm::kTree);
  EXPECT_EQ(small.protocol, Protocol::kLl128);
  EXPECT_EQ(large.algorithm, Algorithm::kRing);
  EXPECT_EQ(large.protocol, Protocol::kSimple);
  EXPECT_TRUE(small.tuned && large.tuned);
  const Choice broadcast = aws(Function::kBroadcast, 1 << 20);
  EXPECT_FALSE(broadcast.tuned);
  EXPECT_EQ(broadcast.algorithm, own(Function::kBroadcast, 1 << 20).algorithm);
}

std::shared_ptr<const TableTuner> table_of(const std::string& text) {
  auto table = tuner_table::read_table(text);
  EXPECT_TRUE(table) << table.error().text;
  return std::make_shared<TableTuner>(std::move(*table), "t.csv");
}
constexpr const char* kOurs = "# tutti nccl-tuner table 1\n";

TEST(TableTuner, StatesThatNoLineMatchesTheCommunicator) {
  const std::string row = "allreduce,0,100,ring,ll,4,2,16\n";
  const auto ours = table_of(std::string(kOurs) + row), example = table_of(row);
  EXPECT_THAT(ours->why_not(of_size(2, 8)), IsEmpty());
  EXPECT_THAT(ours->why_not(of_size(4, 8)),
              HasSubstr("no line of the table matches 32 ranks on 4 nodes"));
  EXPECT_THAT(example->why_not(of_size(4, 8)), IsEmpty()) << "it sets channels for all";
}

TEST(TunedChoice, FollowsATable) {
  const auto tuner = table_of(std::string(kOurs) +
                              "allreduce,1000,2000,ring,ll,3,2,16\n"
                              "allreduce,0,5000,tree,simple,0,-1,-1,-1,1\n"
                              "allgather,0,9999999,nvls_tree,simple,5,-1,-1\n"
                              "allgather,0,9999999,ring,ll128,63,-1,-1,4\n");
  const Tuned tuned(2, tuner), own(2, nullptr);
  const Choice one = tuned(Function::kAllReduce, 1500);
  EXPECT_EQ(one.algorithm, Algorithm::kRing);
  EXPECT_EQ(one.protocol, Protocol::kLl);
  EXPECT_EQ(one.channels, 3);
  // The buffers are not registered, so the second line does not match.
  EXPECT_FALSE(tuned(Function::kAllReduce, 2001).tuned);
  Settings registered;
  registered.buffers = Buffers::kRegistered;
  const Tuned with_buffers(2, tuner, kDefaultVersion, registered);
  EXPECT_EQ(with_buffers(Function::kAllReduce, 2001).algorithm, Algorithm::kTree);
  // NCCL 2.23 does not report registered buffers to a tuner.
  EXPECT_FALSE(Tuned(2, tuner, {2, 23, 4}, registered)(Function::kAllReduce, 2001).tuned);
  // NVLSTree does not support all-gathers, so the next line applies. The table's 63 channels are
  // limited to those of the communicator.
  EXPECT_FALSE(tuned(Function::kAllGather, 4096).tuned);
  const Choice group = tuned(Function::kAllGather, 4096, 4);
  EXPECT_EQ(group.protocol, Protocol::kLl128);
  EXPECT_EQ(group.channels, tuned.comm.channels);
  EXPECT_EQ(tuned(Function::kReduce, 4096).channels, own(Function::kReduce, 4096).channels);
}

/// NVIDIA's example gives a call one channel if no line matches.
TEST(TunedChoice, TheExampleTunerUsesOneChannelWithoutAMatchingLine) {
  const Tuned tuned(2, table_of("allreduce,0,100,ring,ll,-1,-1,-1\n")), own(2, nullptr);
  EXPECT_GT(own(Function::kAllGather, 1 << 28).channels, 1);
  EXPECT_EQ(tuned(Function::kAllGather, 1 << 28).channels, 1);
  EXPECT_EQ(tuned(Function::kAllReduce, 50).channels, 1) << "-1 also means one channel";
  // Before 2.24, NCCL does not find the symbol of the example.
  const Tuned old(2, table_of("allreduce,0,100,ring,ll,-1,-1,-1\n"), {2, 22, 3});
  EXPECT_GT(old(Function::kAllGather, 1 << 28).channels, 1);
}

/// Since 2.28, the example also changes parameters of NCCL's model, for all sizes.
TEST(TunedChoice, TheExampleTunerReplacesNvlsBetweenNodes) {
  Settings settings;
  settings.collnet = true;
  System system = test::hopper_system(4, 8);
  system.collnet = true;
  for (const auto& [version, expected] :
       {std::pair(Version{2, 27, 7}, false), std::pair(Version{2, 28, 9}, true)}) {
    const Communicator comm = test::communicator(system, version, settings);
    Settings with_tuner = settings;
    with_tuner.tuner = table_of("broadcast,0,1,ring,ll,1,-1,-1\n");
    const auto latency = [&](const Settings& of) {
      return tune(comm, of)
          .entry(Function::kAllReduce, Algorithm::kNvls, Protocol::kSimple)
          .latency_us;
    };
    EXPECT_EQ(latency(with_tuner) != latency(settings), expected) << to_string(version);
  }
}

/// In 2.21, a tuner's choice would override NCCL_ALGO. So the plugins make no choice if the user
/// has set a preference.
TEST(TunedChoice, KeepsTheUsersSettingsIn2_21) {
  const auto tuner = table_of(std::string(kOurs) + "allreduce,0,9999,ring,ll,2,-1,-1\n");
  const auto settings = read_settings({{"NCCL_PROTO", "Simple,LL"}}, {2, 21, 5});
  ASSERT_TRUE(settings);
  EXPECT_FALSE(Tuned(2, tuner, {2, 21, 5}, *settings)(Function::kAllReduce, 4096).tuned);
  EXPECT_TRUE(Tuned(2, tuner, {2, 22, 3}, *settings)(Function::kAllReduce, 4096).tuned);
  EXPECT_TRUE(Tuned(2, tuner, {2, 21, 5})(Function::kAllReduce, 4096).tuned);
}

/// The ranges of the choice change where the lines of a table and the edges of regions start,
/// however narrow these are.
TEST(TunedChoice, ChangesAtTheSizesOfTheTuner) {
  const auto table = table_of(std::string(kOurs) +
                              "allreduce,1000003,1000005,ring,ll,3,-1,-1\n"
                              "allreduce,1000004,1000004,tree,ll,3,-1,-1\n");
  for (const std::shared_ptr<const Tuner>& tuner :
       std::vector<std::shared_ptr<const Tuner>>{table, std::make_shared<AwsTuner>("p5.48xlarge"),
                                                 std::make_shared<AwsTuner>("p6-b200.48xlarge")}) {
    const Tuned tuned(20, tuner);
    for (const Function function : {Function::kAllReduce, Function::kAllGather}) {
      const auto ranges =
          choices_by_size(tuned.comm, tuned.model, {function, 0, ElementType::kFloat32});
      ASSERT_TRUE(ranges);
      std::int64_t next = 0;
      for (const ChoiceRange& range : *ranges) {
        ASSERT_EQ(range.first, next);
        if (&range != &ranges->back()) next = range.last + 1;
        for (const std::int64_t bytes :
             {range.first, range.first + (range.last - range.first) / 3, range.last}) {
          const Choice choice = tuned(function, bytes);
          ASSERT_EQ(choice.algorithm, range.choice.algorithm) << tuner->name() << ' ' << bytes;
          ASSERT_EQ(choice.protocol, range.choice.protocol) << tuner->name() << ' ' << bytes;
          ASSERT_EQ(choice.channels, range.choice.channels) << tuner->name() << ' ' << bytes;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tutti::core::nccl
