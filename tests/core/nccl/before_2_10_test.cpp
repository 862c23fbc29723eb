// NCCL's collectives before 2.10, and those of later releases in which channels take turns. Every
// primitive and every tree is compared with the results of NCCL's code
// (tests/reference/nccl/steps-before-2.10.txt, steps-2.10-to-2.17.txt), and the checker proves
// every schedule.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <numeric>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/nccl/connect.h"
#include "core/nccl/lowering/lower.h"
#include "core/schedule/checker.h"
#include "tests/core/nccl/communicators.h"
#include "tests/core/nccl/proofs.h"
#include "tests/support/clusters.h"

namespace tutti::core::nccl {
namespace {

using test::hopper;

template <class Name>
Name named(const std::string& word, std::initializer_list<std::pair<const char*, Name>> names) {
  for (const auto& [text, name] : names) {
    if (word == text) return name;
  }
  ADD_FAILURE() << word;
  return names.begin()->second;
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

Version version(const std::string& text) { return *parse_version(text); }

/// Returns a communicator whose GPUs are in the order of the reference: trees by index, rings by
/// index except that the second channel of three GPUs has the order 0, 2, 1.
Communicator in_order(int nodes, int gpus, Version of, bool tree) {
  Communicator comm = hopper(nodes, gpus, of);
  std::vector<int> order(static_cast<std::size_t>(gpus));
  std::iota(order.begin(), order.end(), 0);
  for (Graph* graph : {&comm.graphs.ring, &comm.graphs.tree}) {
    graph->channels = tree ? 1 : 2;
    graph->cross_nic = 0;
    graph->orders = {{order, {}}};
    if (!tree) graph->orders.push_back({{0, 2, 1}, {}});
  }
  comm.graphs.tree.pattern = gpus == 1 ? Pattern::kTree : Pattern::kBalancedTree;
  return comm;
}

// --- comparison with the reference, step by step ---

std::string text(StepKind kind, const std::string& from, const std::string& to, std::int64_t offset,
                 std::int64_t count) {
  return fmt::format("{} {}>{} {}+{}", static_cast<int>(kind), from, to, count > 0 ? offset : 0,
                     count);
}

/// Returns the steps of a primitive. A primitive with several peers has one step for each.
std::vector<std::string> steps_of(const std::string& primitive, bool tree) {
  const auto parts = split(primitive + ":end", ':');
  const auto from = split(parts[2], ','), to = split(parts[3], ',');
  const std::int64_t offset = std::stoll(parts[1]),
                     count = std::stoll(parts[1].substr(parts[1].find('+') + 1));
  std::vector<std::string> steps;
  const auto add = [&](StepKind kind, const std::string& whence, const std::string& whither) {
    steps.push_back(text(kind, whence, whither, offset, count));
  };
  const std::string& what = parts[0];
  const bool adds = what.find('a') != std::string::npos,
             sends = what.find('s') != std::string::npos;
  if (what == "racs" && !tree) {
    add(StepKind::kReceiveReduceCopySend, from[0], to[0]);
  } else if (what == "ras") {
    for (std::size_t i = 0; i + 1 < from.size(); ++i) add(StepKind::kReceiveReduce, from[i], "");
    add(StepKind::kReceiveReduceSend, from.back(), to[0]);
  } else if (adds) {
    for (const std::string& each : from) add(StepKind::kReceiveReduce, each, "");
    if (sends) {
      for (const std::string& each : to) add(StepKind::kSend, "", each);
    }
  } else if (what == "rs") {
    add(StepKind::kReceiveSend, from[0], to[0]);
    for (std::size_t i = 1; i < to.size(); ++i) add(StepKind::kSend, "", to[i]);
  } else if (what == "r") {
    add(StepKind::kReceive, from[0], "");
  } else {
    EXPECT_EQ(what, "s");
    for (const std::string& each : to) add(StepKind::kSend, "", each);
  }
  return steps;
}

/// Returns the steps of a schedule, with the slices of a step combined.
std::vector<std::string> steps_of(const Schedule& schedule, Rank rank, Lane lane, int slices) {
  std::vector<std::string> steps;
  for (std::int64_t i = 0; i < schedule.steps(rank, lane); i += slices) {
    const Step step = schedule.step(rank, lane, i);
    std::int64_t count = 0;
    for (int slice = 0; slice < slices; ++slice) {
      const Step one = schedule.step(rank, lane, i + slice);
      EXPECT_EQ(one.kind, step.kind);
      EXPECT_TRUE(one.target.count == 0 || one.target.offset == step.target.offset + count);
      count += one.target.count;
    }
    const auto peer = [&](bool has, const Peer& of) {
      return has ? fmt::format("{}", of.rank(rank, schedule.ranks())) : std::string();
    };
    steps.push_back(text(step.kind, peer(receives(step.kind), step.from),
                         peer(sends(step.kind), step.to), step.target.offset, count));
  }
  return steps;
}

/// A case of the reference, with the communicators and schedules of all its releases.
struct Case {
  std::string head;
  std::vector<Communicator> comms;
  std::vector<std::shared_ptr<const Schedule>> schedules;
  bool tree = false, divided = false;
  int slices = 1;

  void compare(const std::string& line) const {
    std::istringstream words(line);
    Rank rank = 0;
    int channel = 0, down = 0;
    words >> rank >> channel >> down;
    std::vector<std::string> expected;
    for (std::string primitive; words >> primitive;) {
      for (const std::string& step : steps_of(primitive, tree)) expected.push_back(step);
    }
    for (const auto& schedule : schedules)
      EXPECT_EQ(steps_of(*schedule, rank, divided ? 2 * channel + down : channel, slices), expected)
          << head << "\n"
          << line;
  }
  void compare_trees(const std::string& line) const {
    for (const Communicator& comm : comms) {
      const int channel = line[0] - '0';
      std::string made = fmt::format("{}", channel);
      for (const TreePlace& place :
           connect_channel(comm.graphs, comm.nodes, channel, comm.version).tree)
        made += fmt::format(" {}/{}", place.up, fmt::join(place.down, ","));
      EXPECT_EQ(made, line) << head;
    }
  }
};

Case read_steps(std::istringstream& words) {
  std::string collective, algorithm, protocol, releases;
  int nodes = 0, gpus = 0, channels = 0, threads = 0, root = 0;
  std::int64_t count = 0;
  words >> collective >> algorithm >> protocol >> nodes >> gpus >> channels >> threads >> count >>
      root >> releases;
  const auto kind =
      named<CollectiveKind>(collective, {{"all_reduce", CollectiveKind::kAllReduce},
                                         {"all_gather", CollectiveKind::kAllGather},
                                         {"reduce_scatter", CollectiveKind::kReduceScatter},
                                         {"broadcast", CollectiveKind::kBroadcast},
                                         {"reduce", CollectiveKind::kReduce}});
  const auto by = named<Protocol>(
      protocol,
      {{"ll", Protocol::kLl}, {"ll128", Protocol::kLl128}, {"simple", Protocol::kSimple}});
  Case made;
  made.tree = algorithm == "tree";
  made.slices = !made.tree && by == Protocol::kSimple && !has_root(kind) ? 2 : 1;
  made.divided = made.tree && (by == Protocol::kLl128 ||
                               version(split(releases, ',').front()) >= Version{2, 10, 0});
  const std::int64_t elements = count * (has_blocks(kind) ? nodes * gpus : 1);
  for (const std::string& release : split(releases, ',')) {
    made.comms.push_back(in_order(nodes, gpus, version(release), made.tree));
    const Choice choice{made.tree ? Algorithm::kTree : Algorithm::kRing, by, channels, threads, 0};
    const auto schedule =
        lower(made.comms.back(), {kind, choice, DataType::kFloat32, elements, elements, root});
    EXPECT_TRUE(schedule);
    if (schedule) made.schedules.push_back(*schedule);
  }
  return made;
}

Case read_trees(std::istringstream& words) {
  int nodes = 0, gpus = 0;
  std::string releases;
  words >> nodes >> gpus >> releases;
  Case made;
  for (const std::string& release : split(releases, ','))
    made.comms.push_back(in_order(nodes, gpus, version(release), true));
  return made;
}

/// Compares all cases of a file. Returns its numbers of collectives and trees.
std::pair<int, int> compare_with(const std::string& name) {
  std::ifstream file(test::source_folder() + "/tests/reference/nccl/" + name);
  EXPECT_TRUE(file);
  Case now;
  int steps = 0, trees = 0;
  for (std::string line; std::getline(file, line) && !testing::Test::HasFailure();) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "#") continue;
    if (what == "steps" || what == "trees") {
      now = what == "steps" ? read_steps(words) : read_trees(words);
      now.head = line;
      ++(what == "steps" ? steps : trees);
    } else {
      now.schedules.empty() ? now.compare_trees(line) : now.compare(line);
    }
  }
  return {steps, trees};
}

TEST(Before2_10, PrimitivesAndTreesMatchNcclsCode) {
  EXPECT_EQ(compare_with("steps-before-2.10.txt"), std::pair(63, 39));
}

TEST(Before2_20, PrimitivesMatchNcclsCode) {
  EXPECT_EQ(compare_with("steps-2.10-to-2.17.txt"), std::pair(38, 0));
}

// Computed by hand from connectRings of 2.19.4, which does not know crossing cards, and from
// ncclTopoPostset of 2.20.5, 2.21.5, 2.25.1 and 2.26.2.
TEST(Connect, RingsOfOddNodesAreSwappedSince2_20) {
  Graphs graphs;
  graphs.ring.channels = graphs.tree.channels = 2;
  graphs.ring.orders = graphs.tree.orders = {{{0, 1}, {}}, {{1, 0}, {}}};
  const auto exchanged = [&](int cross_nic, int nodes, Version version) {
    graphs.ring.cross_nic = cross_nic;
    const std::vector<int> ring = connect_channel(graphs, nodes, 0, version).ring;
    EXPECT_EQ(ring[0], 0);
    return ring[2] == 3;
  };
  EXPECT_FALSE(exchanged(2, 2, {2, 19, 4}));
  EXPECT_TRUE(exchanged(2, 2, {2, 20, 5}));
  EXPECT_FALSE(exchanged(2, 3, {2, 20, 5}));
  EXPECT_TRUE(exchanged(2, 3, {2, 21, 5}));
  EXPECT_TRUE(exchanged(1, 2, {2, 25, 1}));
  EXPECT_FALSE(exchanged(1, 2, {2, 26, 2}));
  EXPECT_TRUE(exchanged(2, 3, kDefaultVersion));
}

// --- proofs ---

TEST(Before2_10, SchedulesAreProved) {
  for (const Version of : {Version{2, 6, 4}, Version{2, 9, 9}}) {
    for (const auto& [nodes, gpus] : {std::pair(1, 2), std::pair(1, 8), std::pair(2, 4),
                                      std::pair(3, 2), std::pair(5, 1), std::pair(6, 3)}) {
      const Communicator comm = hopper(nodes, gpus, of);
      for (const Protocol protocol : {Protocol::kLl, Protocol::kLl128, Protocol::kSimple}) {
        for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                          CollectiveKind::kReduceScatter,
                                          CollectiveKind::kBroadcast, CollectiveKind::kReduce}) {
          const std::int64_t blocks = has_blocks(kind) ? comm.ranks : 1;
          for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kTree}) {
            if (algorithm == Algorithm::kTree && kind != CollectiveKind::kAllReduce) continue;
            for (const std::int64_t elements : {1, 67}) {
              for (const std::int64_t planned : {std::int64_t{0}, std::int64_t{3'000'000}})
                prove(comm, {kind,
                             {algorithm, protocol, 4, 320, 0},
                             DataType::kFloat32,
                             elements * blocks,
                             planned * blocks,
                             has_root(kind) ? comm.ranks / 2 : 0});
            }
          }
        }
      }
    }
  }
}

TEST(Before2_10, TreesBroadcastAfterAllChunksAreReduced) {
  // With Simple, one thread block sends all chunks up the tree and then all down. With LL128, other
  // thread blocks send chunks down at the same time. Only the root's thread block sends each sum
  // down before it adds the next one.
  const auto first_of = [](Protocol protocol) {
    const Communicator comm = hopper(1, 4, {2, 8, 4});
    const auto schedule = lower(comm, {CollectiveKind::kAllReduce,
                                       {Algorithm::kTree, protocol, 1, 576, 0},
                                       DataType::kFloat32,
                                       1 << 22,
                                       1 << 22});
    EXPECT_TRUE(schedule);
    for (Rank rank = 0; rank < 4; ++rank) {
      const Step first = (*schedule)->step(rank, 0, 0), second = (*schedule)->step(rank, 0, 1);
      if (first.kind == StepKind::kReceiveReduce)
        return std::pair((*schedule)->lanes(rank), second.kind);
    }
    return std::pair(Lane{0}, StepKind::kNop);
  };
  EXPECT_EQ(first_of(Protocol::kSimple), std::pair(Lane{1}, StepKind::kReceiveReduce));
  EXPECT_EQ(first_of(Protocol::kLl128), std::pair(Lane{2}, StepKind::kSend));
}

}  // namespace
}  // namespace tutti::core::nccl
