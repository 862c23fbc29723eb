// Validation of NCCL's predicted times against published tables: reading tables and their metadata,
// weights, error statistics, error bands, and tables that cannot be used.

#include "core/measured/validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "core/measured/system_of_table.h"
#include "core/measured/table_model.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"
#include "tests/support/program.h"

namespace tutti::core::nccl {
namespace {

using test::FailsWith;
using test::Mistake;
using testing::ElementsAre;

TableFacts facts() {
  TableFacts f;
  f.table_id = "t";
  f.config = "c";
  f.system = "s";
  f.collective = "all_reduce";
  f.gpu_model = "H100-SXM5";
  f.intra = "NVLink4+NVSwitch";
  f.dtype = "float";
  f.ranks = 8;
  f.nodes = 1;
  f.gpus_per_node = 8;
  f.links_per_gpu = 18;
  f.link_gb_per_s = 25;
  f.nvswitch = true;
  f.healthy = true;
  return f;
}

std::vector<std::string> refusal(const TableFacts& f) { return test::kinds_of(system_of(f)); }

TEST(NcclTables, AreForTheMachinesInTheirMetadata) {
  TableFacts f = facts();
  f.nodes = 4;
  f.ranks = 32;
  f.nics_per_node = 8;
  f.nic_gbps = 400;
  f.nic_type = "NDR InfiniBand";
  f.version = "2.23.4";
  f.env = {{"NCCL_ALGO", "Ring"}, {"FI_SOMETHING", "1"}};
  const auto made = system_of(f);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->system.nic_gb_per_s, 50);
  EXPECT_EQ(made->system.transport, Transport::kInfiniband);
  EXPECT_EQ(made->version, (Version{2, 23, 4}));
  EXPECT_EQ(made->settings.algorithms[4][0], Preference::kNo);
  EXPECT_THAT(made->assumed, testing::ElementsAre("Intel CPUs", "a process for every GPU"));
}

TEST(NcclTables, MetadataStateMessageMatchingAndGpudirect) {
  const auto of = [](std::vector<std::pair<std::string, std::string>> env) {
    TableFacts f = facts();
    f.nodes = 2;
    f.ranks = 16;
    f.nics_per_node = 4;
    f.nic_gbps = 200;
    f.nic_type = "HPE Slingshot-11 (aws-ofi-nccl)";
    f.env = std::move(env);
    return system_of(f).value().system;
  };
  EXPECT_EQ(of({}).matching, nccl::Matching::kByCpu);  // the recommended default
  EXPECT_EQ(of({{"NCCL_NET", "AWS Libfabric"}}).matching, nccl::Matching::kByCard);
  EXPECT_EQ(of({{"FI_CXI_RX_MATCH_MODE", "hybrid"}}).matching, nccl::Matching::kByCard);
  EXPECT_EQ(of({{"FI_CXI_RX_MATCH_MODE", "software"}}).matching, nccl::Matching::kByCpuSlowly);
  EXPECT_EQ(of({{"FI_CXI_RX_MATCH_MODE", "software"}, {"FI_HMEM_CUDA_USE_GDRCOPY", "1"}}).matching,
            nccl::Matching::kByCpu);
  EXPECT_TRUE(of({{"NCCL_NET_GDR_LEVEL", "PHB"}}).gpudirect);
  EXPECT_FALSE(of({{"NCCL_NET_GDR_LEVEL", "0"}}).gpudirect);
  EXPECT_FALSE(of({{"NCCL_NET_GDR_LEVEL", "LOC"}}).gpudirect);
}

TEST(NcclTables, MetadataStateTheProcessesAndThreadsThatCallNccl) {
  TableFacts f = facts();
  EXPECT_EQ(system_of(f)->system.driving, Driving::kProcessPerGpu);
  EXPECT_THAT(system_of(f)->assumed, testing::Contains("a process for every GPU"));
  f.driving = Driving::kOneThread;
  EXPECT_EQ(system_of(f)->system.driving, Driving::kOneThread);
  EXPECT_THAT(system_of(f)->assumed, testing::Not(testing::Contains("a process for every GPU")));
}

TEST(NcclTables, OfUnknownGpusMayStateTheNearestModel) {
  TableFacts f = facts();
  f.gpu_model = "GB300";
  EXPECT_THAT(refusal(f), ElementsAre("unknown-name gpu_model"));
  f.nearest_gpu_model = "GB200";
  const auto made = system_of(f);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->system.generation, GpuGeneration::kBlackwell);
  EXPECT_TRUE(made->system.nearest_gpu);
  f.nearest_gpu_model = "Voodoo 2";
  EXPECT_THAT(refusal(f), ElementsAre("unknown-name nearest_gpu_model"));
  f.gpu_model = "H100";
  EXPECT_FALSE(system_of(f)->system.nearest_gpu) << "the parameters of H100 are known";
}

TEST(NcclTables, StateWhyTheyAreNotModelled) {
  const auto with = [](auto change) {
    TableFacts f = facts();
    change(f);
    return refusal(f);
  };
  EXPECT_THAT(with([](TableFacts& f) { f.gpu_model = "MI300X"; }),
              ElementsAre("unsupported gpu_model"));
  EXPECT_THAT(with([](TableFacts& f) { f.gpu_model = "Voodoo 2"; }),
              ElementsAre("unknown-name gpu_model"));
  EXPECT_THAT(with([](TableFacts& f) { f.ranks = 7; }), ElementsAre("conflict n_ranks"));
  EXPECT_THAT(with([](TableFacts& f) { f.version = "2.4.8"; }),
              ElementsAre("unsupported nccl_version"));
  EXPECT_THAT(with([](TableFacts& f) { f.link_gb_per_s = 0; }),
              ElementsAre("invalid link_gbytes_dir"));
  EXPECT_THAT(with([](TableFacts& f) { f.links_per_gpu = 100'000'000'000; }),
              ElementsAre("invalid links_per_gpu"));
  EXPECT_THAT(with([](TableFacts& f) { f.nics_per_node = 100'000'000'000; }),
              ElementsAre("too-large nics_per_node"));
  EXPECT_THAT(with([](TableFacts& f) {
                f.nodes = 2;
                f.ranks = 16;
                f.nics_per_node = 8;
                f.nic_gbps = 0;
                f.nic_type = "RoCE";
              }),
              ElementsAre("invalid nic_gbps"));
  EXPECT_THAT(with([](TableFacts& f) {
                f.env = {{"NCCL_P2P_DISABLE", "1"}};
              }),
              ElementsAre("unsupported NCCL_P2P_DISABLE"));
  EXPECT_THAT(with([](TableFacts& f) {
                f.nodes = 2;
                f.ranks = 16;
                f.nic_type = "not stated";
              }),
              ElementsAre("unsupported nic_type"));
  EXPECT_THAT(with([](TableFacts& f) {
                f.nvswitch = false;
                f.intra = "string";
              }),
              ElementsAre("unsupported intra"));
}

/// Returns a table whose measured times are `times` the predicted ones.
CollectiveTable scaled(TableFacts f, double times, std::size_t rows) {
  CollectiveTable table{std::move(f), {}};
  for (std::size_t r = 0; r < rows; ++r) table.rows.push_back({std::int64_t{1024} << r, 1, false});
  const auto model = TableModel::of(table);
  EXPECT_TRUE(model);
  std::vector<double> us;
  for (std::size_t r = 0; r < rows; ++r)
    us.push_back(model->predict(r, Parameters::initial()).us());
  for (std::size_t r = 0; r < rows; ++r) table.rows[r].us = us[r] * times;
  return table;
}

TEST(NcclValidation, EveryConfigHasTheSameWeightAndOutliersHaveNone) {
  TableFacts a = facts(), b = facts(), sick = facts(), amd = facts();
  a.table_id = "exact", a.config = "a";
  b.table_id = "half", b.config = "b", b.collective = "all_gather";
  sick.table_id = "sick", sick.config = "x", sick.healthy = false;
  amd.table_id = "amd", amd.config = "y", amd.gpu_model = "MI300X";
  std::vector<CollectiveTable> tables = {scaled(a, 1, 30), scaled(b, 0.5, 3), scaled(sick, 9, 5)};
  tables[0].rows[7].outlier = true;
  tables[0].rows[7].us *= 100;
  tables.push_back({amd, {{1024, 5, false}}});
  // The bands, by size, reach from 0.8 of the prediction to 2, 3, 4 and 5 times that.
  ErrorBands bands;
  for (std::size_t size = 0; size < ErrorBands::kSizes; ++size)
    bands.at(false, size) = {0.8, 0.8 * static_cast<double>(size + 2)};
  const Validation made = validate(tables, Parameters::initial(), bands);
  // Predictions for b are twice the measured times, which is a relative error of 1 for half of the
  // total weight.
  EXPECT_EQ(made.rows, 33U);
  EXPECT_EQ(made.outliers, 1U);
  EXPECT_EQ(made.overall.rows, 32U);
  EXPECT_NEAR(made.overall.mean, 0.5, 1e-9);
  EXPECT_NEAR(made.overall.bias, 0.5, 1e-9);
  EXPECT_NEAR(made.overall.median, 0, 1e-9);
  EXPECT_NEAR(made.overall.p90, 1, 1e-9);
  EXPECT_NEAR(made.overall_bands.coverage, 0.5, 1e-9) << "all of a, nothing of b";
  // Table a has 29 rows that count: six are below 64 KiB, three more below 1 MiB, and six more
  // below 64 MiB. The median row is the 15th.
  EXPECT_NEAR(made.tables[0].bands.width, 4, 1e-9);
  EXPECT_EQ(made.tables[0].bands.coverage, 1);
  EXPECT_NEAR(made.tables[1].bands.width, 2, 1e-9);
  EXPECT_EQ(made.tables[1].bands.coverage, 0);
  EXPECT_NEAR(made.overall_bands.width, 2, 1e-9) << "all of b and 6/29 of a are more than half";
  EXPECT_EQ(made.parts.front().name, "below 64 KiB");
  EXPECT_NEAR(made.parts.front().bands.coverage, (6.0 / 29) / (6.0 / 29 + 1), 1e-9);
  ASSERT_EQ(made.tables.size(), 4U);
  EXPECT_NEAR(made.tables[1].quality.bias, 1, 1e-9);
  EXPECT_EQ(made.tables[2].about, (ProblemKind{ProblemCode::kUnused, "healthy"}));
  EXPECT_NEAR(made.tables[2].quality.bias, 1.0 / 9 - 1, 1e-9);
  EXPECT_EQ(made.tables[3].about, (ProblemKind{ProblemCode::kUnsupported, "gpu_model"}));
  EXPECT_TRUE(made.tables[3].rows.empty());
}

TEST(NcclValidation, GivenTablesCorrectOtherTablesOfTheirSystem) {
  TableFacts given = facts(), other = facts(), elsewhere = facts();
  given.table_id = "given", given.config = "a";
  other.table_id = "other", other.config = "b", other.collective = "all_gather";
  elsewhere.table_id = "elsewhere", elsewhere.config = "d", elsewhere.system = "another";
  const std::vector<CollectiveTable> tables = {scaled(given, 1.5, 20), scaled(other, 1.5, 20),
                                               scaled(elsewhere, 1, 20)};
  const Parameters figures = Parameters::initial();
  const auto made = validate(tables, figures, ErrorBands(), {{"given"}, Spread::initial()});
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->rows, 20U);
  EXPECT_EQ(made->overall.rows, 20U) << "those of the other table of the system";
  EXPECT_NEAR(made->overall_before.median, 1 / 3.0, 1e-9);
  EXPECT_LT(made->overall.median, 0.2);
  EXPECT_EQ(made->tables[0].about, (ProblemKind{ProblemCode::kUnused, "table_id"}));
  EXPECT_EQ(made->tables[2].about, (ProblemKind{ProblemCode::kUnused, "system"}));
  EXPECT_NEAR(made->tables[2].quality.median, 0, 1e-9) << "predicted as without a calibration";
  EXPECT_THAT(
      test::kinds_of(validate(tables, figures, ErrorBands(), {{"gone"}, Spread::initial()})),
      ElementsAre("unknown-name --calibrate-on"));
}

TEST(NcclQuality, CoverageIsTheShareInsideTheBandAndWidthIsTheMedianRatio) {
  Bands bands;
  EXPECT_EQ(bands.quality().coverage, 0);
  bands.add(50, 100, {0.5, 1.5}, 1);   // at the lower end: inside; ratio 3
  bands.add(151, 100, {0.5, 1.5}, 1);  // above
  bands.add(150, 100, {1, 1.5}, 2);    // at the upper end; ratio 1.5
  bands.add(99, 100, {1, 4}, 1);       // below; ratio 4
  EXPECT_DOUBLE_EQ(bands.quality().coverage, 3.0 / 5);
  EXPECT_DOUBLE_EQ(bands.quality().width, 3);  // the median of 1.5, 1.5, 3, 3, 4
}

TEST(NcclQuality, TheIntervalScoreIsTheWidthPlusTenTimesTheDistanceOutside) {
  EXPECT_DOUBLE_EQ(interval_score(100, 50, 200), std::log(4.0));
  EXPECT_DOUBLE_EQ(interval_score(50, 50, 200), std::log(4.0));
  EXPECT_DOUBLE_EQ(interval_score(25, 50, 200), std::log(4.0) + 10 * std::log(2.0));
  EXPECT_DOUBLE_EQ(interval_score(600, 50, 200), std::log(4.0) + 10 * std::log(3.0));
  Bands bands;
  bands.add(100, 100, {0.5, 2}, 3);
  bands.add(400, 100, {0.5, 2}, 1);
  EXPECT_DOUBLE_EQ(bands.quality().score, std::log(4.0) + 10 * std::log(2.0) / 4);
  // With many measurements, the band between the true 10 % and 90 % quantiles has the lowest score.
  const auto charged = [](double low, double high) {
    Bands of;
    for (int i = 0; i < 1000; ++i) of.add(std::exp((i + 0.5) / 1000), 1, {low, high}, 1);
    return of.quality().score;
  };
  const double best = charged(std::exp(0.1), std::exp(0.9));
  for (const auto& [low, high] :
       std::vector<std::pair<double, double>>{{0.05, 0.9}, {0.15, 0.9}, {0.1, 0.85}, {0.1, 0.95}})
    EXPECT_LT(best, charged(std::exp(low), std::exp(high)));
}

TEST(NcclQuality, WeightedQuantilesEqualQuantilesOfRepeatedRows) {
  // The weights are integers. The reference lists each error as often as its weight says.
  Errors errors;
  std::vector<double> listed;
  for (int i = 1; i <= 37; ++i) {
    const double error = (i % 2 ? 1 : -1) * std::pow(i, 1.3) / 100;
    const int weight = 1 + i * 7 % 5;
    errors.add(error, weight);
    listed.insert(listed.end(), static_cast<std::size_t>(weight), std::abs(error));
  }
  std::sort(listed.begin(), listed.end());
  const Quality q = errors.quality();
  EXPECT_EQ(q.median, listed[(listed.size() + 1) / 2 - 1]);
  EXPECT_EQ(
      q.p90,
      listed[static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(listed.size()))) - 1]);
}

/// Returns true if the reason quotes the first row that cannot be read.
bool names_an_unread_row(const ValidatedTable& table) {
  return table.reason.find(to_string(table.table->unread.front())) != std::string::npos;
}

class CollectiveTables : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  Expected<std::vector<CollectiveTable>> load(const std::string& csv, const std::string& json) {
    return load_collective_tables(write("t.csv", csv), write("m.json", json));
  }
  static constexpr const char* kMeta =
      R"([{"table_id": "a", "collective": "all_reduce", "gpu_model": "A100", "healthy": true, "n_ranks": 2, "nodes": 1,
           "gpus_per_node": 2, "outlier_sizes": [64], "env": {"NCCL_ALGO": "Ring"}, "nccl_version": null}])";
  test::TemporaryFolder folder_;
};

TEST_F(CollectiveTables, AreReadWithTheirMetadata) {
  const auto loaded = load_collective_tables(
      write("t.csv", "table_id,size_bytes,time_us\na,32,5.5\na,64,60\n"), write("m.json", kMeta));
  ASSERT_TRUE(loaded) << loaded.error().message();
  ASSERT_EQ(loaded->size(), 1U);
  const CollectiveTable& table = loaded->front();
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].us, 5.5);
  EXPECT_FALSE(table.rows[0].outlier);
  EXPECT_TRUE(table.rows[1].outlier);
  EXPECT_EQ(table.facts.config, "a");
  EXPECT_EQ(table.facts.version, "");
  EXPECT_THAT(table.facts.env, ElementsAre(testing::Pair("NCCL_ALGO", "Ring")));
}

TEST_F(CollectiveTables, ErrorsHavePositions) {
  const auto in = [this](const char* file, Mistake mistake) {
    mistake.file = folder_.path() + "/" + file;
    return mistake;
  };
  EXPECT_THAT(load("table_id,size_bytes\na,32\n", kMeta),
              FailsWith(in("t.csv", {ProblemCode::kMissing, "time_us", 1, 1})));
  EXPECT_THAT(load("table_id,size_bytes,time_us\n", "{}"),
              FailsWith(in("m.json", {ProblemCode::kWrongType, "", 1, 1})));
  const std::string open = "table_id,size_bytes,time_us\na,32,\"5\n";
  EXPECT_THAT(load(open, kMeta),
              FailsWith(in("t.csv", test::at(open, "\"5", ProblemCode::kSyntax, ""))));
}

TEST_F(CollectiveTables, ReportsLinesWithAWrongNumberOfCellsAndReadsTheOthers) {
  const auto loaded = load_collective_tables(
      write("t.csv", "table_id,size_bytes,time_us\na,32,5.5\na,64\na,128,7,8,9\n4096,5\na,256,6\n"),
      write("m.json", kMeta));
  ASSERT_TRUE(loaded) << loaded.error().message();
  ASSERT_EQ(loaded->size(), 2U);
  EXPECT_EQ((*loaded)[0].rows.size(), 2U);
  ASSERT_EQ((*loaded)[0].unread.size(), 2U);
  EXPECT_TRUE(test::is((*loaded)[0].unread[0],
                       {ProblemCode::kSyntax, "", 3, 1, folder_.path() + "/t.csv"}));
  EXPECT_EQ((*loaded)[0].unread[1].where.line, 4);
  // The row "4096,5" does not say which table it belongs to.
  EXPECT_EQ((*loaded)[1].facts.table_id, "");
  ASSERT_EQ((*loaded)[1].unread.size(), 1U);
  EXPECT_EQ((*loaded)[1].unread[0].where.line, 5);
  const Validation made = validate(*loaded, Parameters::initial(), {});
  EXPECT_EQ(made.rows, 4U);
  EXPECT_EQ(made.other_rows, 1U);
  EXPECT_EQ(made.tables[0].about, (ProblemKind{ProblemCode::kUnsupported, "intra"}))
      << "its record comes first";
  EXPECT_EQ(made.tables[1].about, (ProblemKind{ProblemCode::kMissing, "table_id"}));
  for (const ValidatedTable& table : made.tables) EXPECT_TRUE(names_an_unread_row(table));
}

TEST_F(CollectiveTables, SkipsInvalidRecordsWithAReason) {
  const auto loaded = load_collective_tables(
      write("t.csv", "table_id,size_bytes,time_us\na,32,5.5\ntwice,32,5\ntwice,32,6\n"),
      write(
          "m.json",
          std::string(kMeta, std::strlen(kMeta) - 1) +
              R"(,{"collective": "broadcast"},{"table_id": "twice", "healthy": true},{"table_id": "twice"},
                              {"table_id": "empty", "collective": "reduce", "gpu_model": "A100", "healthy": true}])"));
  ASSERT_TRUE(loaded) << loaded.error().message();
  ASSERT_EQ(loaded->size(), 4U);
  const auto in_meta = [&](std::size_t table, ProblemCode code, const std::string& field,
                           int line) {
    for (const Problem& problem : (*loaded)[table].problems) {
      if (problem.kind == ProblemKind{code, field} && problem.where.line == line &&
          problem.where.file == folder_.path() + "/m.json")
        return true;
    }
    return false;
  };
  EXPECT_THAT((*loaded)[0].problems, testing::IsEmpty());
  EXPECT_TRUE(in_meta(1, ProblemCode::kMissing, "table_id", 2));
  EXPECT_TRUE(in_meta(2, ProblemCode::kDuplicate, "table_id", 2));
  EXPECT_EQ((*loaded)[2].rows.size(), 2U);  // a size that occurs twice was measured twice
  const Validation made = validate(*loaded, Parameters::initial(), {});
  ASSERT_EQ(made.tables.size(), 4U);
  EXPECT_EQ(made.tables[2].about, (ProblemKind{ProblemCode::kDuplicate, "table_id"}));
  EXPECT_EQ(made.tables[3].about, (ProblemKind{ProblemCode::kMissing, "n_ranks"}));
}

TEST_F(CollectiveTables, AnErrorInOneTableOrRowDoesNotAffectOthers) {
  const auto loaded = load_collective_tables(
      write("t.csv",
            "table_id,size_bytes,time_us\na,32,5.5\na,64,slow\na,0,7\nlost,32,5\nhalf,32,5\nodd,32,"
            "5\n"),
      write("m.json", std::string(kMeta, std::strlen(kMeta) - 1) +
                          R"(, {"table_id": "half", "healthy": true, "n_ranks": 2},
                              {"table_id": "odd", "collective": "reduce", "gpu_model": "A100", "healthy": true, "nodes": "two"}])"));
  ASSERT_TRUE(loaded) << loaded.error().message();
  ASSERT_EQ(loaded->size(), 4U);
  ASSERT_EQ((*loaded)[0].rows.size(), 1U);
  ASSERT_EQ((*loaded)[0].unread.size(), 2U);
  EXPECT_EQ((*loaded)[0].unread[0].where.line, 3);
  EXPECT_EQ((*loaded)[0].unread[0].kind, (ProblemKind{ProblemCode::kWrongType, "time_us"}));
  EXPECT_EQ((*loaded)[0].unread[1].kind, (ProblemKind{ProblemCode::kTooSmall, "size_bytes"}));
  EXPECT_EQ((*loaded)[1].problems.front().kind, (ProblemKind{ProblemCode::kMissing, "collective"}));
  EXPECT_EQ((*loaded)[2].problems.front().kind, (ProblemKind{ProblemCode::kWrongType, "nodes"}));
  EXPECT_EQ((*loaded)[3].problems.front().kind,
            (ProblemKind{ProblemCode::kUnknownName, "table_id"}));
  const Validation made = validate(*loaded, Parameters::initial(), {});
  EXPECT_EQ(made.rows, 5U);  // of healthy tables; the table "lost" is not known to be healthy
  EXPECT_EQ(made.overall.rows, 0U);
  ASSERT_EQ(made.tables.size(), 4U);
  for (const ValidatedTable& table : made.tables)
    EXPECT_FALSE(table.reason.empty()) << table.table->facts.table_id;
  EXPECT_EQ(made.tables[0].about, (ProblemKind{ProblemCode::kUnsupported, "intra"}))
      << "its record comes first";
  EXPECT_TRUE(names_an_unread_row(made.tables[0]));
}

}  // namespace
}  // namespace tutti::core::nccl
