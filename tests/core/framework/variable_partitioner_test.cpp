#include "core/framework/tensorflow/variable_partitioner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "tests/sim/simulated.h"
#include "tests/support/problems.h"

namespace tutti {
namespace {

using core::FixedSize;
using core::MinMaxVariable;
using core::VariableAxisSize;
using testing::ElementsAre;

core::Variable variable(std::vector<std::int64_t> shape) {
  core::Variable made;
  made.name = "v";
  made.elements = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  made.shape = std::move(shape);
  return made;
}

TEST(VariablePartitioner, FixedSizeMakesNoMorePartsThanTheAxisHasElements) {
  EXPECT_EQ(parts_of({FixedSize{2}, 0}, variable({10, 3})),
            2);  // the example of FixedShardsPartitioner
  EXPECT_EQ(parts_of({FixedSize{8}, 1}, variable({10, 3})), 3);
  EXPECT_EQ(parts_of({FixedSize{8}, 0}, variable({})), 1) << "a scalar";
  EXPECT_EQ(parts_of({FixedSize{8}, 0}, variable({0, 3})), 1) << "nothing";
}

TEST(VariablePartitioner, MinMaxIsLimitedByBytes) {
  // The example in TensorFlow's documentation is 1024 × 1024 × 4 bytes / 256 KiB.
  EXPECT_EQ(parts_of({MinMaxVariable{100, 256 << 10}, 0}, variable({1024, 1024})), 16);
  EXPECT_EQ(parts_of({MinMaxVariable{10, 256 << 10}, 0}, variable({1024, 1024})), 10);
  EXPECT_EQ(parts_of({MinMaxVariable{}, 0}, variable({1024, 1024})), 1) << "TensorFlow's defaults";
  EXPECT_EQ(parts_of({MinMaxVariable{100, 256 << 10}, 0}, variable({4, 1 << 20})), 4) << "the side";
  EXPECT_EQ(parts_of({MinMaxVariable{100, 256 << 10}, 0}, variable({10})), 1)
      << "less than one slice";
  EXPECT_EQ(parts_of({MinMaxVariable{100, 1000}, 0}, variable({251})), 2) << "rounded up";
}

TEST(VariablePartitioner, AxisSizeUsesWholeSlices) {
  // The variable has 32 slices of 2048 bytes.
  const core::Variable v = variable({4, 8, 16, 32});
  const auto parts = [&](std::int64_t bytes, std::optional<std::int64_t> most = std::nullopt) {
    return parts_of({VariableAxisSize{bytes, most}, 3}, v);
  };
  EXPECT_EQ(parts(131'072), 1);
  EXPECT_EQ(parts(65'536), 1);
  EXPECT_EQ(parts(32'768), 2);
  EXPECT_EQ(parts(3 * 2048), 11) << "of three slices, and one of two";
  EXPECT_EQ(parts(2048), 32);
  EXPECT_EQ(parts(1), 32) << "one slice at least";
  EXPECT_EQ(parts(2048, 5), 5);
  EXPECT_EQ(parts(65'536, 5), 1);
}

core::Expected<core::Scenario> scenario_of(const std::string& partitioner,
                                           const std::string& workload,
                                           const std::string& more = "", int workers = 2) {
  return core::read_scenario(
      fmt::format("cluster {{ workers {{ machine: \"m\" count: {} }} workers {{ machine: \"m\" "
                  "count: 2 server: true "
                  "}} network "
                  "{{ kind: ONE_SWITCH latency_us: 5 bandwidth_gb_per_s: 1 }} machine {{ name: "
                  "\"m\" device {{ name: "
                  "\"cpu0\" kind: CPU memory_gb_per_s: 50 }} nic {{ name: \"nic0\" "
                  "bandwidth_gb_per_s: 10 }} link {{ "
                  "from: \"cpu0\" to: \"nic0\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0.5 "
                  "}} }} }}\nworkload {{ "
                  "{} }}\nstrategy {{ tensorflow {{ parameter_server {{ variable_partitioner {{ {} "
                  "}} {} }} }} }}\n",
                  workers, workload, partitioner, more),
      "f", core::Library(std::vector<core::Library::File>()));
}

core::Scenario valid(const std::string& partitioner, const std::string& workload,
                     const std::string& more = "", int workers = 2) {
  auto scenario = scenario_of(partitioner, workload, more, workers);
  if (!scenario) throw std::runtime_error(scenario.error().message());
  return std::move(*scenario);
}

constexpr const char* kLarge =
    "variable { name: \"a\" shape: 7 shape: 100 forward_ms: 1 backward_ms: 1 } variable { name: "
    "\"s\" } variable { "
    "name: "
    "\"b\" shape: 3 forward_ms: 2 backward_ms: 2 }";

TEST(VariablePartitioner, PartsReplaceTheirVariable) {
  const core::Scenario s = valid("fixed_size { num_shards: 3 }", kLarge);
  std::vector<std::string> names;
  std::vector<std::int64_t> elements;
  for (const core::Variable& v : s.workload.gradients) {
    names.push_back(v.name);
    elements.push_back(v.elements);
  }
  EXPECT_THAT(names, ElementsAre("a/part_0", "a/part_1", "a/part_2", "s", "b/part_0", "b/part_1",
                                 "b/part_2"));
  EXPECT_THAT(elements, ElementsAre(300, 200, 200, 1, 1, 1, 1));
  std::vector<std::vector<int>> segments;
  for (const core::BackwardSegment& segment : s.workload.segments)
    segments.push_back(segment.variables);
  EXPECT_THAT(segments.back(), ElementsAre(0, 1, 2));
  EXPECT_THAT(segments.front(), ElementsAre(4, 5, 6));
  EXPECT_EQ(s.plan.packs.size(), 14u) << "each is read and pushed";
  EXPECT_EQ(s.workload.bytes(), valid("min_max_variable {}", kLarge).workload.bytes());
}

/// Servers treat the parts of a variable as separate variables, and store them in round-robin
/// order. So the bytes of a large variable are divided among several servers.
TEST(VariablePartitioner, PartsOfOneLargeVariableAreOnSeveralServers) {
  constexpr int kWorkers = 6;
  const std::string one = "variable { name: \"v\" shape: 1000000 forward_ms: 1 backward_ms: 1 }";
  const auto roots = [](const core::Scenario& s) {
    std::set<core::Rank> all;
    for (const core::Pack& pack : s.plan.packs) all.insert(s.plan.collective(pack).root);
    return all.size();
  };
  const core::Scenario whole = valid("fixed_size { num_shards: 1 }", one, "", kWorkers);
  const core::Scenario halves = valid("fixed_size { num_shards: 2 }", one, "", kWorkers);
  EXPECT_EQ(roots(whole), 1u);
  EXPECT_EQ(roots(halves), 2u);
  const auto step = [](const core::Scenario& s) {
    core::Summary summary;
    EXPECT_TRUE(sim::Simulator().run(s, {}, {}, summary));
    return core::to_ms(summary.step_time());
  };
  // Six workers each read 4 MB at 1 GB/s and push the same amount at the same time. The transfers
  // take 24 ms over one port, and 12 ms over two.
  EXPECT_LT(step(halves), 0.75 * step(whole));
}

TEST(VariablePartitioner, SparseRowsAreDividedAmongTheParts) {
  const core::Scenario s =
      valid("fixed_size { num_shards: 4 }",
            "variable { name: \"e\" shape: 1000 shape: 16 forward_ms: 1 backward_ms: 1 } "
            "sparse_gradient { variable: \"e\" rows_per_step: 10 }");
  ASSERT_EQ(s.workload.gradients.size(), 4u);
  for (const core::Variable& v : s.workload.gradients) {
    ASSERT_TRUE(v.slices);
    EXPECT_EQ(v.slices->rows, 3);
  }
}

TEST(VariablePartitioner, RefusesWhatTensorFlowRefuses) {
  const auto refused = [](const std::string& partitioner, const std::string& workload = kLarge) {
    return test::kinds_of(scenario_of(partitioner, workload));
  };
  EXPECT_THAT(refused(""), ElementsAre("missing VariablePartitioner"));
  EXPECT_THAT(refused("fixed_size {}"), ElementsAre("missing FixedSizePartitioner.num_shards"));
  EXPECT_THAT(refused("fixed_size { num_shards: 0 }"),
              ElementsAre("too-small FixedSizePartitioner.num_shards"));
  EXPECT_THAT(refused("fixed_size { num_shards: 2 axis: -1 }"),
              ElementsAre("too-small FixedSizePartitioner.axis"));
  EXPECT_THAT(refused("fixed_size { num_shards: 2 axis: 1 }"),
              ElementsAre("conflict ParameterServerStrategy.variable_partitioner"));
  EXPECT_THAT(refused("min_max_variable { min_slice_bytes: 0 }"),
              ElementsAre("too-small MinMaxVariablePartitioner.min_slice_bytes"));
  EXPECT_THAT(refused("variable_axis_size {}"),
              ElementsAre("missing VariableAxisSizePartitioner.max_shard_bytes"));
  EXPECT_THAT(refused("variable_axis_size { max_shard_bytes: 8 max_shards: 0 }"),
              ElementsAre("too-small VariableAxisSizePartitioner.max_shards"));
  EXPECT_THAT(refused("fixed_size { num_shards: 100000 }",
                      "variable { name: \"v\" shape: 100000 forward_ms: 1 }"),
              ElementsAre("too-large ParameterServerStrategy.variable_partitioner"));
  EXPECT_THAT(refused("fixed_size { num_shards: 2 axis: 1 }",
                      "variable { name: \"e\" shape: 10 shape: 16 } sparse_gradient { variable: "
                      "\"e\" rows_per_step: 1 }"),
              ElementsAre("unsupported ParameterServerStrategy.variable_partitioner"));
}

}  // namespace
}  // namespace tutti
