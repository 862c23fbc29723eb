// Runs the golden cases of TensorFlow's collective runtime: rings, chunks, trees, device orders,
// and the keys of groups.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <regex>

#include "core/algorithm/tf_ring.h"
#include "core/algorithm/tree_broadcast.h"
#include "core/schedule/checker.h"
#include "core/strategy/collective.h"
#include "core/strategy/collective_keys.h"
#include "tests/reference/tensorflow/golden.h"
#include "tests/support/clusters.h"

namespace tutti {
namespace {

using core::AlgorithmChoice;
using core::BaseAlgorithm;
using core::Collective;
using core::CollectiveKind;
using core::Contract;
using core::Lane;
using core::Rank;
using core::Step;
using core::StepKind;
using core::Strategy;
using core::Subdivision;
using core::TaskOrder;
using test::Data;

std::shared_ptr<const core::Cluster> gpu_cluster(std::int64_t workers, int gpus) {
  return std::make_shared<const core::Cluster>(
      std::vector<core::WorkerGroup>{{test::switch_machine(gpus), workers}}, gpus,
      core::Network{core::Network::Kind::kOneSwitch, std::nullopt, core::microseconds(1), "test"});
}

TaskOrder by_index(std::int32_t workers, std::int32_t devices) {
  std::vector<std::int32_t> order;
  for (std::int32_t d = 0; d < devices; ++d) order.push_back(d);
  return {workers, order, true};
}

// --- chunks ---

std::vector<std::int64_t> chunk_lengths(std::int64_t elements, std::int64_t chunks,
                                        std::int64_t chunk) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < chunks; ++i)
    lengths.push_back(std::clamp<std::int64_t>(elements - i * chunk, 0, chunk));
  return lengths;
}

TEST(TensorFlowRuntimeReference, ChunksAreAligned) {
  for (const Data& c : test::golden_cases("ring chunk size (aligned)")) {
    SCOPED_TRACE(test::golden_name(c));
    const Data in = c["input"];
    const std::int64_t chunks = in["group_size"].number() * in["num_subdivs"].number();
    const std::int64_t chunk = core::aligned_chunk(in["float32_elements"].number(), chunks, 4,
                                                   in["max_align_bytes"].number());
    EXPECT_EQ(chunk, c["expected"]["chunk_elements"].number());
    const std::vector<std::int64_t> lengths =
        chunk_lengths(in["float32_elements"].number(), chunks, chunk);
    const Data expected = c["expected"]["chunk_lengths"];
    if (expected.is_list()) {
      EXPECT_EQ(lengths, expected.numbers());
      continue;
    }
    EXPECT_EQ(std::count(lengths.begin(), lengths.end(), chunk), expected["full"].number());
    EXPECT_EQ(std::count(lengths.begin(), lengths.end(), 0), expected["empty"].number());
    for (const std::int64_t partial : expected["partial"].numbers())
      EXPECT_EQ(std::count(lengths.begin(), lengths.end(), partial), 1) << partial;
  }
}

/// Returns the ring of `elements` float32 among ranks of one task.
std::unique_ptr<core::Schedule> ring_of(std::int32_t ranks, std::int64_t elements,
                                        std::int64_t align, std::int64_t subdivisions = 1) {
  core::TfRingOptions options{by_index(1, ranks),
                              std::vector<Subdivision>(static_cast<std::size_t>(subdivisions))};
  options.chunk = core::aligned_chunk(elements, ranks * subdivisions, 4, align);
  return core::tf_ring_reduce(Contract::all_reduce(ranks, elements), options);
}

template <class Visit>
void for_all_steps(const core::Schedule& schedule, Rank rank, const Visit& visit) {
  for (Lane lane = 0; lane < schedule.lanes(rank); ++lane) {
    for (std::int64_t i = 0; i < schedule.steps(rank, lane); ++i)
      visit(schedule.step(rank, lane, i));
  }
}

TEST(TensorFlowRuntimeReference, EmptyChunksAreNotSent) {
  for (const Data& c : test::golden_cases("ring traffic with alignment")) {
    SCOPED_TRACE(test::golden_name(c));
    const Data in = c["input"];
    const auto ranks = static_cast<std::int32_t>(in["group_size"].number());
    const std::int64_t elements = in["float32_elements"].number();
    const auto ring =
        ring_of(ranks, elements, in["max_align_bytes"].number(), in["num_subdivs"].number());
    std::vector<std::int64_t> sent, messages;
    for (Rank r = 0; r < ranks; ++r) {
      sent.push_back(0), messages.push_back(0);
      for_all_steps(*ring, r, [&](const Step& step) {
        if (sends(step.kind)) sent.back() += step.source.count, ++messages.back();
      });
    }
    EXPECT_EQ(sent, c["expected"]["elements_sent_per_rank"].numbers());
    EXPECT_EQ(messages, c["expected"]["messages_sent_per_rank"].numbers());
    const std::int64_t chunk =
        core::aligned_chunk(elements, ranks, 4, in["max_align_bytes"].number());
    EXPECT_EQ(chunk_lengths(elements, ranks, chunk), c["expected"]["chunk_lengths"].numbers());
  }
}

TEST(TensorFlowRuntimeReference, AChunkPassesAroundTheRingTwice) {
  for (const Data& c : test::golden_cases("ring field schedule")) {
    SCOPED_TRACE(test::golden_name(c));
    const auto ranks = static_cast<std::int32_t>(c["input"]["group_size"].number());
    const std::int64_t chunk = c["input"]["chunk"].number();
    const auto ring = ring_of(ranks, 100 * ranks, 4);
    // Follows a chunk around the ring. The owner sends without having received, and ranks that add
    // to the chunk are in the first pass.
    const std::int64_t offset = 100 * chunk;
    std::vector<std::string> adding, keeping;
    Rank at = static_cast<Rank>(chunk);
    for (std::int32_t hop = 0; hop < 2 * (ranks - 1); ++hop) {
      const Rank to = (at + 1) % ranks;
      std::vector<StepKind> kinds;
      for_all_steps(*ring, to, [&](const Step& step) {
        if (receives(step.kind) && step.source.offset == offset) kinds.push_back(step.kind);
      });
      ASSERT_FALSE(kinds.empty()) << "rank " << to;
      const bool second = hop >= ranks - 1;
      EXPECT_EQ(std::count(kinds.begin(), kinds.end(),
                           second ? StepKind::kReceive : StepKind::kReceiveReduce),
                1);
      (second ? keeping : adding).push_back(fmt::format("rank{}->rank{}", at, to));
      if (hop == ranks - 2) {
        EXPECT_EQ(to, c["expected"]["fully_reduced_at"].number());
      }
      at = to;
    }
    const auto texts = [](const Data& list) {
      std::vector<std::string> all;
      for (const Data& text : list.items()) all.push_back(text.text());
      return all;
    };
    EXPECT_EQ(adding, texts(c["expected"]["pass0_hops"]));
    EXPECT_EQ(keeping, texts(c["expected"]["pass1_hops"]));
  }
}

/// Proves the schedule for every shape of TensorFlow's own test, followed by a division, so every
/// device gets the mean. (real/faulty_transport_test.cpp tests for all algorithms that a failure
/// reaches every device.)
TEST(TensorFlowRuntimeReference, RingReduceOfEveryShapeIsTheMean) {
  for (const Data& c : test::golden_cases("ring reduce")) {
    for (const Data& shape : c["input"]["workers_devices_subdivs_len"].items()) {
      const std::vector<std::int64_t> s = shape.numbers();
      SCOPED_TRACE(fmt::format("{} workers of {} devices, {} subdivisions, {} elements", s[0], s[1],
                               s[2], s[3]));
      Strategy strategy = Strategy::for_algorithm(BaseAlgorithm::kTfRing);
      strategy.reduction = core::Reduction::kMean;
      const std::int64_t stride = std::max<std::int64_t>(1, s[1] / s[2]);
      for (std::int64_t i = 0; i < s[2]; ++i)
        strategy.tf_runtime.subdiv_offsets.push_back(
            static_cast<std::int32_t>(i % 2 == 0 ? i * stride : -i * stride));
      const auto cluster = gpu_cluster(s[0], static_cast<int>(s[1]));
      ASSERT_TRUE(problems_of(strategy, *cluster).empty());
      const Collective collective =
          make_all_reduce(*cluster, strategy, core::DataType::kFloat32, s[3], 0);
      EXPECT_EQ(check(*collective.schedule, collective.contract()), std::vector<core::Violation>());
      std::int64_t divided = 0;
      for_all_steps(*collective.schedule, 0, [&](const Step& step) {
        if (step.kind != StepKind::kScale) return;
        EXPECT_EQ(step.factor, 1.0 / static_cast<double>(s[0] * s[1]));
        divided += step.target.count;
      });
      EXPECT_EQ(divided, s[3]);
    }
  }
}

// --- orders ---

TEST(TensorFlowRuntimeReference, SubdivisionsRotateTheDevicesOfEveryTask) {
  for (const Data& c : test::golden_cases("ring subdiv permutations (runtime)")) {
    SCOPED_TRACE(test::golden_name(c));
    const std::vector<int> per_task = c["input"]["devices_per_task"].ints();
    const auto m = per_task.front();
    const TaskOrder order = by_index(static_cast<std::int32_t>(per_task.size()), m);
    const auto rank = static_cast<Rank>(c["input"]["default_rank"].number());
    std::vector<int> places;
    std::vector<std::vector<int>> permutations;
    for (const int offset : c["input"]["subdiv_offsets"].ints()) {
      const Subdivision subdivision{offset};
      std::vector<int>& permutation = permutations.emplace_back();
      for (int p = 0; p < order.ranks(); ++p)
        permutation.push_back(order.rank(p / m, subdivision.device_at(p % m, m)));
      places.push_back(order.task(rank) * m + subdivision.position_of(order.device(rank), m));
    }
    std::vector<std::vector<int>> expected;
    for (const Data& permutation : c["expected"]["permutations"].items())
      expected.push_back(permutation.ints());
    EXPECT_EQ(permutations, expected);
    EXPECT_EQ(places, c["expected"]["subdiv_rank"].ints());
  }
}

TEST(TensorFlowRuntimeReference, DefaultSubdivisions) {
  for (const Data& c : test::golden_cases("dynamic subdiv offsets")) {
    SCOPED_TRACE(test::golden_name(c));
    if (c["expected"].has("subdiv_offsets")) {  // as strategies pass them
      const auto cluster = gpu_cluster(2, 8);
      std::vector<int> offsets;
      for (const Subdivision& s : subdivisions(*cluster, {}, 1, core::Bytes(1 << 30)))
        offsets.push_back(s.offset);
      EXPECT_EQ(offsets, c["expected"]["subdiv_offsets"].ints());
      continue;
    }
    const Data most = c["input"]["max_subdivs_per_device"];
    EXPECT_EQ(core::subdivision_offsets(
                  c["input"]["tensor_bytes"].number(), c["input"]["group_size"].number(),
                  c["input"]["num_tasks"].number(), most.is_null() ? 0 : most.number()),
              c["expected"]["offsets"].ints());
  }
}

TEST(TensorFlowRuntimeReference, TwoShardsOfTfCnnBenchmarksCollective) {
  for (const Data& c : test::golden_cases("tf_cnn_benchmarks collective#2")) {
    SCOPED_TRACE(test::golden_name(c));
    const auto cluster = gpu_cluster(2, static_cast<int>(c["input"]["gpus"].number()));
    std::vector<int> offsets;
    for (const Subdivision& s :
         subdivisions(*cluster, {}, static_cast<int>(c["input"]["shards"].number()), {}))
      offsets.push_back(s.offset);
    EXPECT_EQ(offsets, c["expected"]["subdiv_offsets"].ints());
  }
}

TEST(TensorFlowRuntimeReference, MoreShardsOfTfCnnBenchmarksCollectiveAreRefused) {
  for (const Data& c : test::golden_cases("tf_cnn_benchmarks collective#3")) {
    SCOPED_TRACE(test::golden_name(c));
    Strategy strategy = Strategy::for_algorithm(BaseAlgorithm::kTfRing);
    strategy.shards = static_cast<int>(c["input"]["shards"].number());
    const auto problems = problems_of(strategy, *gpu_cluster(2, 8));
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems.front().field, "shards");
    EXPECT_EQ(problems.front().code, core::ProblemCode::kConflict);
  }
}

TEST(TensorFlowRuntimeReference, DevicesFollowTheirLinksUnlessAnOrderIsSet) {
  for (const Data& c : test::golden_cases("ring device order from links")) {
    SCOPED_TRACE(test::golden_name(c));
    // A chain of strong links 0, 2, 4, 6, 1, 3, 5, 7 among weak links.
    const std::vector<int> chain{0, 2, 4, 6, 1, 3, 5, 7};
    std::vector<core::LinkedDevice> devices;
    for (int d = 0; d < 8; ++d) {
      core::LinkedDevice& device = devices.emplace_back();
      device.number = d;
      const auto at = std::find(chain.begin(), chain.end(), d);
      for (int peer = 0; peer < 8; ++peer) {
        if (peer != d)
          device.links.push_back({peer, at + 1 != chain.end() && at[1] == peer ? 2 : 1});
      }
    }
    const std::vector<int> got =
        core::ring_device_order(devices, c["input"]["gpu_ring_order"].text());
    EXPECT_EQ(got, c["expected"]["order"].is_list() ? c["expected"]["order"].ints() : chain);
  }
}

TEST(TensorFlowRuntimeReference, TasksAreSortedByTheirNames) {
  for (const Data& c : test::golden_cases("ring task order")) {
    SCOPED_TRACE(test::golden_name(c));
    const auto task = [](const std::string& name) {
      return std::stoll(name.substr(name.rfind(':') + 1));
    };
    std::vector<std::int64_t> given, expected, got;
    for (const Data& name : c["input"]["tasks"].items()) given.push_back(task(name.text()));
    for (const Data& name : c["expected"]["order"].items()) expected.push_back(task(name.text()));
    const std::int64_t count = *std::max_element(given.begin(), given.end()) + 1;
    const TaskOrder order = by_index(static_cast<std::int32_t>(count), 2);
    for (std::int32_t place = 0; place < count; ++place) {
      const std::int64_t number = order.rank(place, 0) / 2;
      if (std::find(given.begin(), given.end(), number) != given.end()) got.push_back(number);
    }
    EXPECT_EQ(got, expected);
  }
}

// --- trees ---

TEST(TensorFlowRuntimeReference, BroadcastTrees) {
  for (const Data& c : test::golden_cases("hierarchical tree broadcast links")) {
    SCOPED_TRACE(test::golden_name(c));
    const core::BroadcastTree tree{static_cast<std::int32_t>(c["input"]["devices"].number()),
                                   static_cast<std::int32_t>(c["input"]["source_rank"].number())};
    std::vector<std::int32_t> from;
    std::vector<std::vector<std::int32_t>> to, expected;
    for (std::int32_t r = 0; r < tree.size; ++r) {
      from.push_back(tree.receives_from(r));
      to.push_back(tree.sends_to(r));
    }
    for (const Data& targets : c["expected"]["send_to"].items()) expected.push_back(targets.ints());
    EXPECT_EQ(from, c["expected"]["recv_from"].ints());
    EXPECT_EQ(to, expected);
  }
}

/// The first tree connects the source with the first device of every other task. The other trees
/// connect the devices of each task. The test derives both from the messages.
TEST(TensorFlowRuntimeReference, ABroadcastHasATreeOverTasksAndOneInsideEachTask) {
  for (const Data& c : test::golden_cases("tree broadcast subdivs")) {
    SCOPED_TRACE(test::golden_name(c));
    const std::vector<int> per_task = c["input"]["devices_per_task"].ints();
    const auto m = per_task.front();
    const auto workers = static_cast<std::int32_t>(per_task.size());
    const auto root = static_cast<Rank>(c["input"]["source_rank"].number());
    const Contract contract =
        Contract::of(CollectiveKind::kBroadcast, workers * m, 10, root, false);
    const auto schedule =
        core::hierarchical_tree_broadcast(contract, by_index(workers, m), core::Engine::kCpu);
    std::map<Rank, Rank> sender;
    for (Rank r = 0; r < workers * m; ++r) {
      for_all_steps(*schedule, r, [&](const Step& step) {
        if (sends(step.kind)) sender[step.to.rank(r, workers * m)] = r;
      });
    }
    // The trees of the case, and the place of each rank in them.
    const Data expected = c["expected"];
    std::vector<std::vector<int>> trees;
    if (expected.has("permutations")) {
      for (const Data& permutation : expected["permutations"].items())
        trees.push_back(permutation.ints());
    } else {
      trees.push_back(expected["inter_task_perm"].ints());
      for (int task = 0; task < workers; ++task) {
        trees.emplace_back();
        for (int d = 0; d < m; ++d) trees.back().push_back(task * m + d);
      }
    }
    const std::vector<int> sources = expected["subdiv_source_rank"].ints();
    const std::vector<int> places = expected["subdiv_rank"].ints();
    ASSERT_EQ(trees.size(), sources.size());
    const auto default_rank = static_cast<int>(c["input"]["default_rank"].number());
    for (std::size_t t = 0; t < trees.size(); ++t) {
      const core::BroadcastTree tree{static_cast<std::int32_t>(trees[t].size()), sources[t]};
      for (std::int32_t p = 0; p < tree.size; ++p) {
        if (p == tree.source) continue;
        EXPECT_EQ(sender[trees[t][p]], trees[t][tree.receives_from(p)]) << "tree " << t;
      }
      const auto at = std::find(trees[t].begin(), trees[t].end(), default_rank);
      EXPECT_EQ(at == trees[t].end() ? -1 : at - trees[t].begin(), places[t]) << "tree " << t;
    }
  }
}

/// A broadcast always has a root here. The remaining form of the mistake is a root that does not
/// take part.
TEST(TensorFlowRuntimeReference, ABroadcastNeedsASource) {
  for (const Data& c : test::golden_cases("broadcast without sender")) {
    SCOPED_TRACE(test::golden_name(c));
    const auto group = c["input"]["group_size"].number();
    Strategy strategy = Strategy::for_algorithm(BaseAlgorithm::kTfRing);
    strategy.collective = CollectiveKind::kBroadcast;
    strategy.root = static_cast<Rank>(group);
    const auto problems = problems_of(strategy, *gpu_cluster(group, 1));
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems.front().field, "root");
  }
}

// --- keys ---

TEST(TensorFlowRuntimeReference, LocalDevicesIdentifyGroups) {
  for (const Data& c : test::golden_cases("collective group key")) {
    SCOPED_TRACE(test::golden_name(c));
    core::CollectiveKeys keys;
    std::map<std::string, std::int64_t> key;
    for (const char* name : {"d0", "d1", "d2", "d3", "d4", "d5", "d6"}) {
      // Parses texts such as "worker1 GPUs {1,3,0}" and "CPUs {1,2}".
      const std::string text = c["input"][name].text();
      static const std::regex kDevices("(?:worker(\\d) )?([GC]PU)s \\{([\\d,]+)\\}");
      std::smatch match;
      ASSERT_TRUE(std::regex_match(text, match, kDevices)) << text;
      std::vector<std::string> devices;
      for (const char digit : match[3].str()) {
        if (digit == ',') continue;
        devices.push_back(fmt::format("/job:worker/replica:0/task:{}/device:{}:{}", match[1].str(),
                                      match[2].str(), digit));
      }
      key[name] = keys.group(devices);
    }
    for (const Data& pair : c["expected"]["equal"].items())
      EXPECT_EQ(key[pair.items()[0].text()], key[pair.items()[1].text()]);
    for (const Data& pair : c["expected"]["different"].items())
      EXPECT_NE(key[pair.items()[0].text()], key[pair.items()[1].text()]);
  }
}

TEST(TensorFlowRuntimeReference, FirstKeys) {
  for (const Data& c : test::golden_cases("collective keys")) {
    core::CollectiveKeys keys;
    EXPECT_EQ(keys.group({"GPU:0"}), c["expected"]["first_group_key"].number());
    EXPECT_EQ(keys.op(), c["expected"]["first_op_instance_key"].number());
    EXPECT_EQ(keys.variable(), c["expected"]["first_variable_instance_key"].number());
    EXPECT_EQ(keys.op(), c["expected"]["first_op_instance_key"].number() + 1);
  }
}

TEST(TensorFlowRuntimeReference, TheLargestKeyIsLaunchedFirst) {
  for (const Data& c : test::golden_cases("OrderCollectives")) {
    SCOPED_TRACE(test::golden_name(c));
    const std::vector<std::int64_t> keys =
        c["input"]["concurrent_instance_keys_per_device"].numbers();
    const std::vector<int> order = core::launch_order(keys);
    for (std::size_t i = 1; i < order.size(); ++i) {
      const std::int64_t before = keys[order[i - 1]];
      const std::int64_t after = keys[order[i]];
      EXPECT_EQ(c["expected"]["wait_for_attr"][std::to_string(after)].numbers(),
                std::vector<std::int64_t>{before});
      EXPECT_EQ(c["expected"]["edges"].items()[i - 1].text(),
                fmt::format("{} -> {} on each device", before, after));
    }
  }
}

}  // namespace
}  // namespace tutti
