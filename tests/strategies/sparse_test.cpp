// Gradients of which only some rows are sent (IndexedSlices). The tests check which packs each
// strategy creates for sparse gradients, that the packs give every replica the right rows, and the
// bytes of the packs on every link, which are compared with closed forms.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "core/scenario/scenario.h"
#include "core/schedule/checker.h"
#include "core/timeline/summary.h"
#include "sim/simulator.h"
#include "tests/reference/tensorflow/golden.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"
#include "tests/support/shipped.h"

namespace tutti {
namespace {

using core::CollectiveKind;
using core::Pack;
using core::PackContent;
using core::PackPhase;
using testing::ElementsAre;

constexpr std::int64_t kRows = 6, kWidth = 8, kVocabulary = 1000, kDense = 40;
constexpr std::int64_t kValueBytes = kRows * kWidth * 4, kIndexBytes = kRows * 8;

/// Returns a scenario with an embedding of 1000 rows of 8 float32, of which each replica uses 6
/// rows, and a dense variable of 40 elements.
core::Expected<core::Scenario> read(const std::string& workers, const std::string& strategy,
                                    const std::string& more = "",
                                    const std::string& what = "rows_per_step: 6") {
  const std::string text = fmt::format(
      "cluster {{ {} network {{ kind: ONE_SWITCH latency_us: 1 }} machine {{ name: \"m\" device {{ "
      "name: \"gpu[0-1]\" "
      "kind: GPU "
      "memory_gb_per_s: 100 }} device {{ name: \"cpu0\" kind: CPU memory_gb_per_s: 50 }} nic {{ "
      "name: \"nic0\" "
      "bandwidth_gb_per_s: 10 }} switch {{ name: \"plx\" kind: PCIE_SWITCH }} link {{ from: "
      "\"gpu[0-1]\" to: \"plx\" "
      "kind: PCIE "
      "bandwidth_gb_per_s: 10 latency_us: 0 }} link {{ from: \"plx\" to: \"cpu0\" kind: PCIE "
      "bandwidth_gb_per_s: 10 "
      "latency_us: 0 "
      "}} link {{ from: \"plx\" to: \"nic0\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 }} }} "
      "machine {{ name: "
      "\"s\" device "
      "{{ name: \"cpu0\" kind: CPU memory_gb_per_s: 50 }} nic {{ name: \"nic0\" "
      "bandwidth_gb_per_s: 10 }} link {{ "
      "from: "
      "\"cpu0\" to: \"nic0\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 }} }} }}\n"
      "workload {{ variable {{ name: \"embedding\" shape: {} shape: {} backward_ms: 1 }} variable "
      "{{ name: \"dense\" "
      "shape: {} "
      "backward_ms: 1 }} sparse_gradient {{ variable: \"embedding\" {} }} {} }}\n"
      "strategy {{ staging: DIRECT {} }}\nrun {{ steps: 1 }}\n",
      workers, kVocabulary, kWidth, kDense, what, more, strategy);
  return core::read_scenario(text, "f", core::Library(std::vector<core::Library::File>()));
}
core::Scenario scenario(int workers, const std::string& strategy, int servers = 0,
                        const std::string& what = "rows_per_step: 6") {
  auto made = read(
      fmt::format("workers {{ machine: \"m\" count: {} }} {}", workers,
                  servers > 0
                      ? fmt::format("workers {{ machine: \"s\" count: {} server: true }}", servers)
                      : ""),
      strategy, "", what);
  EXPECT_TRUE(made) << strategy << ": " << (made ? "" : made.error().message());
  return made ? std::move(*made) : core::Scenario{};
}

/// Returns the packs that carry the embedding, such as "values all_gather 96 after 1".
std::vector<std::string> sparse_packs(const core::Scenario& s) {
  std::vector<std::string> texts;
  for (const Pack& pack : s.plan.packs) {
    if (pack.payload.members.front().variable != 0) continue;
    texts.push_back(fmt::format("{}{} {} {} after {}",
                                pack.phase == PackPhase::kRead ? "read " : "",
                                pack.payload.content == PackContent::kValues    ? "values"
                                : pack.payload.content == PackContent::kIndices ? "indices"
                                                                                : "lengths",
                                to_string(s.plan.collective(pack).kind),
                                s.plan.collective(pack).bytes().count(), pack.after));
  }
  return texts;
}

void expect_proved(const core::Scenario& s) {
  for (const Pack& pack : s.plan.packs) {
    EXPECT_EQ(core::check(*s.plan.collective(pack).schedule, s.plan.collective(pack).contract()),
              std::vector<core::Violation>{});
  }
}

/// Returns bytes by card and direction, and by CPU: "w0 out", "w0/cpu0 in".
std::map<std::string, std::int64_t> carried(core::Scenario s) {
  s.run.until_steady = false;
  core::Summary summary;
  EXPECT_TRUE(sim::Simulator().run(s, {}, {}, summary));
  std::map<std::string, std::int64_t> bytes;
  for (const core::LinkRecord& link : summary.busiest_links()) {
    const std::size_t arrow = link.name.find("→");
    const std::string from = link.name.substr(0, arrow),
                      to = link.name.substr(arrow + std::string("→").size());
    const auto worker = [](const std::string& part) { return part.substr(0, part.find('/')); };
    if (to == "network") bytes[worker(from) + " out"] += link.bytes.count();
    if (from == "network") bytes[worker(to) + " in"] += link.bytes.count();
    if (to.ends_with("cpu0")) bytes[to + " in"] += link.bytes.count();
    if (from.ends_with("cpu0")) bytes[from + " out"] += link.bytes.count();
  }
  return bytes;
}

// --- packs ---

TEST(Sparse, CollectiveAllReduceGathersLengthsValuesAndIndices) {
  const core::Scenario s =
      scenario(2, "tensorflow { multi_worker_mirrored { communication_options {} } }");
  EXPECT_THAT(sparse_packs(s),
              ElementsAre("lengths all_gather 16 after -1",
                          fmt::format("values all_gather {} after 1", 4 * kValueBytes),
                          fmt::format("indices all_gather {} after 1", 4 * kIndexBytes)));
  expect_proved(s);
}

TEST(Sparse, AGatherIsOneRingForAnyAllReduceSettings) {
  for (const std::string strategy :
       {"algorithm: \"tf_ring\"",
        "tensorflow { multi_worker_mirrored { communication_options {} } }"}) {
    for (const std::string rings :
         {"shards: 2", "tf_ring { subdiv_offsets: [0, 1] }", "tf_ring { subdiv_offsets: -1 }",
          "tf_ring { max_subdivs_per_device: 2 }"}) {
      const core::Scenario s = scenario(2, strategy + " " + rings);
      EXPECT_EQ(sparse_packs(s), sparse_packs(scenario(2, strategy))) << strategy << " " << rings;
      expect_proved(s);
    }
  }
}

TEST(Sparse, OldReleasesAssumeEqualLengths) {
  const std::string old =
      "tensorflow { multi_worker_mirrored { collective_all_reduce { generation: TF_1_15 } } }";
  EXPECT_THAT(sparse_packs(scenario(2, old)),
              ElementsAre(fmt::format("values all_gather {} after -1", 4 * kValueBytes),
                          fmt::format("indices all_gather {} after -1", 4 * kIndexBytes)));
  const auto refused =
      read("workers { machine: \"m\" count: 2 }", old, "", "rows_per_step: 6 rows_differ: true");
  EXPECT_THAT(test::kinds_of(refused),
              ElementsAre("conflict MultiWorkerMirroredStrategy.collective_all_reduce"));
}

TEST(Sparse, DifferentLengthsMeanADenseReductionOrPaddingToTheLongest) {
  const std::string differ = "rows_per_step: 6 rows_differ: true";
  EXPECT_THAT(
      sparse_packs(scenario(2, "tensorflow { multi_worker_mirrored { communication_options {} } }",
                            0, differ)),
      ElementsAre("lengths all_gather 16 after -1",
                  fmt::format("values all_reduce {} after 1", kVocabulary * kWidth * 4)));
  EXPECT_EQ(
      sparse_packs(scenario(
          2,
          "tensorflow { multi_worker_mirrored { collective_all_reduce { generation: TF_2_5 } } }",
          0, differ)),
      sparse_packs(scenario(2,
                            "tensorflow { multi_worker_mirrored { collective_all_reduce { "
                            "generation: TF_2_5 } } }")));
}

TEST(Sparse, WithNcclValuesPrecedeIndicesInOneOrder) {
  const auto packs = sparse_packs(scenario(
      2,
      "tensorflow { multi_worker_mirrored { communication_options { implementation: NCCL } } }"));
  ASSERT_EQ(packs.size(), 3u);
  EXPECT_TRUE(packs[2].ends_with("after 2")) << packs[2];
  const auto ordered = sparse_packs(scenario(
      2,
      "tensorflow { multi_worker_mirrored { communication_options { implementation: NCCL } "
      "collective_all_reduce { generation: TF_2_5 } } }"));
  ASSERT_EQ(ordered.size(), 3u);
  EXPECT_TRUE(ordered[0].ends_with("after 0")) << "behind the dense pack: " << ordered[0];
}

TEST(Sparse, CrossDeviceOpsOfOneWorkerGatherOnOneDevice) {
  for (const char* ops :
       {"NCCL_ALL_REDUCE", "HIERARCHICAL_COPY_ALL_REDUCE", "REDUCTION_TO_ONE_DEVICE"}) {
    const core::Scenario s =
        scenario(1, fmt::format("tensorflow {{ mirrored {{ cross_device_ops: {} }} }}", ops));
    EXPECT_THAT(sparse_packs(s),
                ElementsAre(fmt::format("values all_gather {} after -1", 2 * kValueBytes),
                            fmt::format("indices all_gather {} after 1", 2 * kIndexBytes)))
        << ops;
    expect_proved(s);
  }
}

TEST(Sparse, MultiWorkerAllReduceRefusesThem) {
  const auto refused =
      read("workers { machine: \"m\" count: 2 }",
           "tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"pscpu\" } } }");
  EXPECT_THAT(test::kinds_of(refused),
              ElementsAre("conflict MultiWorkerAllReduce.all_reduce_spec"));
}

TEST(Sparse, RefusesInvalidSettings) {
  const auto wrong = [](const std::string& what) {
    return test::kinds_of(read("workers { machine: \"m\" }", "algorithm: \"ring\"", "", what));
  };
  EXPECT_THAT(wrong(""), ElementsAre("missing SparseGradient.rows_per_step"));
  EXPECT_THAT(wrong("rows_per_step: 0"), ElementsAre("too-small SparseGradient.rows_per_step"));
  EXPECT_THAT(wrong("rows_per_step: 3 index_type: FLOAT32"),
              ElementsAre("invalid SparseGradient.index_type"));
  EXPECT_THAT(wrong("rows_per_step: 3 } sparse_gradient { variable: \"nobody\" rows_per_step: 1"),
              ElementsAre("unknown-name SparseGradient.variable"));
  EXPECT_THAT(
      wrong("rows_per_step: 3 } sparse_gradient { variable: \"embedding\" rows_per_step: 1"),
      ElementsAre("duplicate SparseGradient.variable"));
}

// --- bytes on links ---

/// A ring's all-gather over n ranks delivers (n - 1) blocks to each rank. With two workers, half of
/// all hops cross the network, one in each direction per round.
TEST(Sparse, AnAllGatherDeliversTheBlocksOfAllOtherRanks) {
  for (const int workers : {2, 3}) {
    const int n = 2 * workers;
    const auto bytes = carried(scenario(workers, "algorithm: \"ring\""));
    // One connection leaves each worker. The bytes of the dense gradient, which are those of a run
    // without the sparse variable, are subtracted.
    const auto dense = carried(*[&] {
      auto s = scenario(workers, "algorithm: \"ring\"");
      std::erase_if(s.plan.packs,
                    [](const Pack& p) { return p.payload.members.front().variable == 0; });
      return std::make_unique<core::Scenario>(std::move(s));
    }());
    for (int w = 0; w < workers; ++w) {
      EXPECT_EQ(bytes.at(fmt::format("w{} out", w)) - dense.at(fmt::format("w{} out", w)),
                (n - 1) * (kValueBytes + kIndexBytes));
      EXPECT_EQ(bytes.at(fmt::format("w{} in", w)) - dense.at(fmt::format("w{} in", w)),
                (n - 1) * (kValueBytes + kIndexBytes));
    }
  }
}

/// The root receives (n - 1) blocks, and sends everything to n - 1 ranks.
TEST(Sparse, AreReducedOnTheCpuOfOneWorker) {
  const auto bytes =
      carried(scenario(1, "algorithm: \"reduction_to_one_device\" reduce_to_device: \"cpu0\""));
  const std::int64_t sparse = kValueBytes + kIndexBytes;
  EXPECT_EQ(bytes.at("w0/cpu0 in"), 2 * sparse + 2 * kDense * 4);
  EXPECT_EQ(bytes.at("w0/cpu0 out"), 2 * 2 * sparse + 2 * kDense * 4);
}

/// Each replica sends the indices of the rows that it needs and gets the rows. A worker's CPU sends
/// the rows and indices of both its GPUs. Each GPU reads the dense variable, and each worker pushes
/// one sum of it.
TEST(Sparse, ServersTransferOnlyTouchedRows) {
  for (const int workers : {1, 3}) {
    const core::Scenario s = scenario(workers, "tensorflow { parameter_server {} }", 1);
    expect_proved(s);
    EXPECT_THAT(sparse_packs(s),
                ElementsAre(fmt::format("read indices gather {} after -1", 2 * kIndexBytes),
                            fmt::format("read values scatter {} after 0", 2 * kValueBytes),
                            fmt::format("indices gather {} after -1", 2 * kIndexBytes),
                            fmt::format("values gather {} after -1", 2 * kValueBytes)));
    const auto bytes = carried(s);
    for (int w = 0; w < workers; ++w) {
      EXPECT_EQ(bytes.at(fmt::format("w{} out", w)),
                2 * kIndexBytes + 2 * (kValueBytes + kIndexBytes) + kDense * 4);
      EXPECT_EQ(bytes.at(fmt::format("w{} in", w)), 2 * kValueBytes + 2 * kDense * 4);
    }
    EXPECT_EQ(bytes.at(fmt::format("w{} in", workers)),
              workers * (2 * kIndexBytes + 2 * (kValueBytes + kIndexBytes) + kDense * 4));
  }
}

TEST(Sparse, ACacheOnTheCpuReadsTheWholeVariable) {
  const auto bytes =
      carried(scenario(2, "tensorflow { parameter_server { variable_read_cache: CPU } }", 1));
  EXPECT_EQ(bytes.at("w0 in"), kVocabulary * kWidth * 4 + kDense * 4);
  EXPECT_EQ(bytes.at("w0 out"), 2 * (kValueBytes + kIndexBytes) + kDense * 4);
}

TEST(Sparse, GroupsOfReplicasAreRefused) {
  for (const char* const dense : {"", "variable { name: \"dense\" shape: 40 } "}) {
    const auto refused = core::read_scenario(
        std::string("cluster { workers { machine: \"dgx1-v100\" } } workload { variable { name: "
                    "\"v\" shape: 100 shape: 8 } ") +
            dense +
            "sparse_gradient { variable: \"v\" rows_per_step: 6 } } strategy { algorithm: \"ring\" "
            "} "
            "communicator { name: \"tensor\" size: 2 splits_model: true }",
        "f", test::shipped_library());
    EXPECT_THAT(test::kinds_of(refused), ElementsAre("conflict Scenario")) << dense;
  }
}

TEST(Sparse, TfCnnBenchmarksRefuseThem) {
  const auto refused =
      read("workers { machine: \"m\" count: 2 } workers { machine: \"s\" server: true }",
           "tensorflow { tf_cnn_benchmarks { variable_update: DISTRIBUTED_REPLICATED } }");
  EXPECT_THAT(test::kinds_of(refused), ElementsAre("conflict Scenario"));
}

// --- TensorFlow's own test ---

/// The slices of all replicas are concatenated in the order of the replicas. Rows that several
/// replicas have are not merged. The checker proves that the gathers of the pack place the slices
/// in this order. Adding rows with equal indices gives the dense sum.
TEST(Sparse, SlicesAreConcatenatedAsTensorFlowDoes) {
  for (const test::Data& c : test::golden_cases("IndexedSlices reduce")) {
    SCOPED_TRACE(test::golden_name(c));
    const test::Data input = c["input"];
    const std::vector<test::Data> replicas{input["t0"], input["t1"]};
    const std::vector<std::int64_t> shape = input["dense_shape"].numbers();
    std::size_t longest = 0;
    for (const test::Data& replica : replicas)
      longest = std::max(longest, replica["indices"].items().size());
    const auto made = core::read_scenario(
        fmt::format("cluster {{ workers {{ machine: \"dgx1-v100\" replicas: 2 }} }} workload {{ "
                    "variable {{ name: \"v\" shape: "
                    "{} shape: {} }} sparse_gradient {{ variable: \"v\" rows_per_step: {} "
                    "rows_differ: true }} }} strategy {{ "
                    "tensorflow {{ mirrored {{ cross_device_ops: REDUCTION_TO_ONE_DEVICE }} }} }}",
                    shape[0], shape[1], longest),
        "f", test::shipped_library());
    ASSERT_TRUE(made) << made.error().message();
    ASSERT_EQ(made->plan.packs.size(), 2u);
    expect_proved(*made);
    const auto of = [&](PackContent content) -> const Pack& {
      return made->plan.packs[made->plan.packs[0].payload.content == content ? 0 : 1];
    };
    // The result on replica 0: the blocks of the contract, without the padding of short blocks.
    std::vector<std::int64_t> indices;
    std::vector<std::vector<std::int64_t>> values;
    const core::Contract by_index = made->plan.collective(of(PackContent::kIndices)).contract();
    const core::Contract by_value = made->plan.collective(of(PackContent::kValues)).contract();
    for (const core::Contract::Output& output : by_index.outputs(0)) {
      const test::Data& replica = replicas[output.from.first];
      EXPECT_EQ(output.at.offset, static_cast<std::int64_t>(longest) * output.from.first);
      for (const std::int64_t i : replica["indices"].numbers()) indices.push_back(i);
    }
    for (const core::Contract::Output& output : by_value.outputs(0)) {
      EXPECT_EQ(output.at.count, static_cast<std::int64_t>(longest) * shape[1]);
      for (const test::Data& row : replicas[output.from.first]["values"].items())
        values.push_back(row.numbers());
    }
    EXPECT_EQ(indices, c["expected"]["concatenated"]["indices"].numbers());
    std::vector<std::vector<std::int64_t>> expected;
    for (const test::Data& row : c["expected"]["concatenated"]["values"].items())
      expected.push_back(row.numbers());
    EXPECT_EQ(values, expected);
    std::map<std::int64_t, std::vector<std::int64_t>> dense;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      std::vector<std::int64_t>& row =
          dense.try_emplace(indices[i], values[i].size()).first->second;
      for (std::size_t e = 0; e < row.size(); ++e) row[e] += values[i][e];
    }
    for (const auto& [index, row] : dense)
      EXPECT_EQ(row, c["expected"]["equivalent_dense_rows"][std::to_string(index)].numbers());
  }
}

}  // namespace
}  // namespace tutti
