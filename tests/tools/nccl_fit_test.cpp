// The program that fits NCCL's parameters to measured tables: priors that tie similar systems
// together, tables that are left out, error bands, and the shipped data.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/base/file.h"
#include "core/measured/table_model.h"
#include "tests/support/clusters.h"
#include "tests/support/program.h"
#include "tools/nccl_fit/bands.h"
#include "tools/nccl_fit/fit.h"
#include "tools/nccl_fit/quality_line.h"
#include "tools/nccl_fit/rows.h"
#include "tools/nccl_fit/twins.h"

namespace tutti::nccl_fit {
namespace {

using core::CollectiveTable;
using core::TableFacts;
using core::nccl::Parameters;
using core::nccl::TableModel;

TableFacts a100(const std::string& system, const std::string& collective, int gpus, int nodes) {
  TableFacts f;
  f.table_id = f.config = system + collective + std::to_string(gpus) + "x" + std::to_string(nodes);
  f.system = system;
  f.collective = collective;
  f.gpu_model = "A100-SXM4-80GB";
  f.intra = gpus > 1 ? "NVLink3+NVSwitch" : "none";
  f.nvswitch = gpus > 1;
  f.links_per_gpu = 12;
  f.link_gb_per_s = 25;
  f.dtype = "float";
  f.gpus_per_node = gpus;
  f.nodes = nodes;
  f.ranks = gpus * nodes;
  f.nics_per_node = nodes > 1 ? gpus : 0;
  f.nic_gbps = 200;
  f.nic_type = nodes > 1 ? "HDR InfiniBand" : "none";
  f.healthy = true;
  return f;
}

CollectiveTable table(const TableFacts& facts, const Parameters& truth, double times = 1) {
  CollectiveTable made{facts, {}};
  for (std::int64_t bytes = 64; bytes <= std::int64_t{1} << 32; bytes *= 4)
    made.rows.push_back({bytes, 1, false});
  const auto model = TableModel::of(made);
  EXPECT_TRUE(model);
  std::vector<double> us;
  for (std::size_t r = 0; r < made.rows.size(); ++r)
    us.push_back(times * model->predict(r, truth).us());
  for (std::size_t r = 0; r < us.size(); ++r) made.rows[r].us = us[r];
  return made;
}

std::vector<TableModel> models_of(const std::vector<CollectiveTable>& tables) {
  std::vector<TableModel> models;
  for (const CollectiveTable& one : tables) models.push_back(std::move(*TableModel::of(one)));
  return models;
}

double& figure(Parameters& p, const std::string& name) {
  return std::find_if(p.all().begin(), p.all().end(),
                      [&](const auto& one) { return one.name == name; })
      ->value;
}

TEST(NcclFit, ReproducesTheParametersOfGeneratedTables) {
  Parameters truth = Parameters::initial();
  figure(truth, "ampere.nvlink_share") = 0.6;
  figure(truth, "ampere.hop_ll") = 1.7;
  figure(truth, "ampere.copy") = 400;
  figure(truth, "verbs.share") = 0.8;
  figure(truth, "verbs.hop_ll") = 9;
  std::vector<CollectiveTable> tables;
  for (const char* collective : {"all_reduce", "all_gather", "broadcast"}) {
    for (const int gpus : {2, 4, 8})
      tables.push_back(table(a100("one", collective, gpus, 1), truth));
    for (const int nodes : {2, 8})
      tables.push_back(table(a100("two", collective, 8, nodes), truth));
  }
  const auto models = models_of(tables);
  const Parameters start = Parameters::initial();
  Parameters found = Fit(rows_of(models, start), start).run();
  for (const char* name : {"ampere.nvlink_share", "verbs.share"})
    EXPECT_NEAR(figure(found, name) / figure(truth, name), 1, 0.03) << name;
  for (const char* name : {"ampere.hop_ll", "ampere.copy", "verbs.hop_ll"})
    EXPECT_NEAR(figure(found, name) / figure(truth, name), 1, 0.25) << name;
  double worst = 0;
  for (const TableModel& model : models) {
    for (std::size_t r = 0; r < model.table().rows.size(); ++r)
      worst =
          std::max(worst, std::abs(model.predict(r, found).us() / model.table().rows[r].us - 1));
  }
  EXPECT_LT(worst, 0.1);
}

TEST(NcclFit, ChangesUnmeasuredNetworksByHalfAsMuch) {
  Parameters truth = Parameters::initial();
  figure(truth, "verbs.hop_ll") *= 3;
  std::vector<CollectiveTable> tables;
  for (const int nodes : {2, 4, 8, 16})
    tables.push_back(table(a100("one", "all_gather", 8, nodes), truth));
  const auto models = models_of(tables);
  Parameters start = Parameters::initial();
  Parameters found = Fit(rows_of(models, start), start).run();
  // One network of six moves the parameter by half of the amount by which it would move if it were
  // alone.
  const double moved = std::log(figure(found, "verbs.hop_ll") / figure(start, "verbs.hop_ll"));
  EXPECT_GT(moved, std::log(2.0));
  EXPECT_NEAR(std::log(figure(found, "efa.hop_ll") / figure(start, "efa.hop_ll")), moved / 2, 1e-9);
}

TEST(NcclFit, ASystemOfManyExperimentsDoesNotOutvoteTheOthers) {
  const Parameters truth = Parameters::initial();
  std::vector<CollectiveTable> tables;
  for (const int gpus : {2, 3, 4, 5, 6, 7, 8})
    tables.push_back(table(a100("many", "all_reduce", gpus, 1), truth));
  tables.push_back(table(a100("few", "all_gather", 8, 1), truth));
  tables.push_back(table(a100("few", "all_reduce", 8, 1), truth));
  const auto models = models_of(tables);
  double many = 0, few = 0, errors = 0;
  for (const Row& row : rows_of(models, truth)) {
    (system_of(row) == "many" ? many : few) += row.fit_weight;
    errors += row.weight;
  }
  EXPECT_NEAR(many, std::sqrt(7.0), 1e-9);
  EXPECT_NEAR(few, std::sqrt(2.0), 1e-9);
  EXPECT_NEAR(errors, 9, 1e-9);
}

TEST(NcclFit, AGroupHasAnOffsetIfMostOfItsErrorsHaveTheSameSign) {
  const auto offset = [](const std::vector<double>& log_ratios) {
    std::vector<GroupError> errors;
    for (const double one : log_ratios) errors.push_back({one, 2});
    return offset_of(errors);
  };
  EXPECT_EQ(offset({-0.2, -0.1, 0.1, 0.2}), 0);
  EXPECT_EQ(offset({0.5, 0.5, 0.5, 0.5}), 0.5);
  EXPECT_EQ(offset({-0.5, -0.5, -0.5, -0.5}), -0.5);
  // Six of ten errors are positive, but an offset needs 65 % of the weight.
  EXPECT_EQ(offset({-0.4, -0.3, -0.2, -0.1, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6}), 0);
  // Eight of ten are positive. The offset is a part of the median, 0.35.
  EXPECT_EQ(offset({-0.2, -0.1, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8}), 0.2);
  EXPECT_EQ(offset({-0.8, -0.7, -0.6, -0.5, -0.4, -0.3, -0.2, -0.1, 0.1, 0.2}), -0.2);
  EXPECT_EQ(offset_of({{-0.1, 1}, {0.3, 9}}), 0.3);
  EXPECT_EQ(offset_of({{-0.1, 9}, {0.3, 1}}), -0.1);
}

TEST(NcclFit, ExcludesTablesWithInNetworkReduction) {
  const Parameters truth = Parameters::initial();
  TableFacts sharp = a100("sharp", "all_reduce", 8, 4);
  sharp.nic_type = "HDR InfiniBand, SHARP";
  sharp.env = {{"NCCL_COLLNET_ENABLE", "1"}};
  sharp.version = "2.16.2";
  TableFacts silent = sharp;
  silent.nic_type = "HDR InfiniBand";
  const std::vector<CollectiveTable> tables{table(a100("plain", "all_reduce", 8, 4), truth),
                                            table(sharp, truth, 3), table(silent, truth)};
  const std::vector<TableModel> models = models_of(tables);
  EXPECT_TRUE(models[1].communicator().collnet);
  EXPECT_FALSE(models[2].communicator().collnet);  // users also set the variable on others
  EXPECT_EQ(models[1].choice(tables[1].rows.size() - 1)->algorithm,
            core::nccl::Algorithm::kCollNetDirect);
  const std::vector<Row> rows = rows_of(models, truth);
  EXPECT_EQ(rows.size(), tables[0].rows.size() + tables[2].rows.size());
  const auto sharps = std::find_if(truth.all().begin(), truth.all().end(),
                                   [](const auto& one) { return one.name.starts_with("sharp."); });
  for (const Row& row : rows) {
    for (const std::size_t k : row.touches)
      EXPECT_LT(static_cast<std::ptrdiff_t>(k), sharps - truth.all().begin());
  }
}

/// Returns residuals of 20 systems with 50 measurements each, at one size. The measurements range
/// evenly from 1 / `far` to `far` times the prediction. If one thread drives all GPUs of a system,
/// `one_thread` replaces `far`.
std::vector<Residual> residuals(double far, double one_thread, int systems_of_one_thread) {
  std::vector<Residual> all;
  for (int system = 0; system < 20; ++system) {
    for (int i = 0; i < 50; ++i) {
      Residual one{std::to_string(system), "one node", 1, 1024, {}, 0, 1};
      const bool by_one = system < systems_of_one_thread;
      if (by_one) one.facts.driving = core::nccl::Driving::kOneThread;
      one.log_ratio = (2 * (i + 0.5) / 50 - 1) * std::log(by_one ? one_thread : far);
      all.push_back(one);
    }
  }
  return all;
}

TEST(NcclFitBands, ContainEightOfTenRowsAndAreWiderForSomeFacts) {
  const auto band = [](const std::vector<Residual>& all, core::nccl::Driving driving) {
    return fit_bands(all).of(
        1, 1024, {core::nccl::KnownFrom::kSeveral, driving, core::CollectiveKind::kAllReduce});
  };
  const auto same = residuals(2, 2, 10);
  EXPECT_NEAR(std::log(band(same, core::nccl::Driving::kOneThread).high), 0.82 * std::log(2), 0.05);
  EXPECT_NEAR(std::log(band(same, core::nccl::Driving::kProcessPerGpu).low), -0.82 * std::log(2),
              0.05);
  const auto apart = residuals(1.2, 3, 10);
  const double one = std::log(band(apart, core::nccl::Driving::kOneThread).high);
  const double process = std::log(band(apart, core::nccl::Driving::kProcessPerGpu).high);
  EXPECT_GT(one / process, 3);
  EXPECT_NEAR(one, 0.82 * std::log(3), 0.2);
  // A single system changes the band only a little.
  const auto alone = residuals(1.2, 3, 1);
  EXPECT_LT(std::log(band(alone, core::nccl::Driving::kOneThread).high), 0.6 * std::log(3));
  // Without facts, both kinds of system have the same band.
  const auto plain = fit_plain_bands(apart);
  EXPECT_EQ(plain.of(1, 1024, apart.front().facts).high,
            plain.of(1, 1024, apart.back().facts).high);
}

TEST(NcclFitBands, ContainTheErrorsOfOtherGenerationsForUnknownGpus) {
  core::nccl::BandFacts nearest;
  nearest.nearest_gpu = true;
  const auto end = [&](double far) {
    core::nccl::ErrorBands bands = fit_bands(residuals(1.2, 1.2, 10));
    const double known = std::log(bands.of(1, 1024, {}).high);
    widen_for_nearest_gpu({{"one", residuals(far, far, 10)}, {"other", residuals(far, far, 10)}},
                          bands);
    EXPECT_DOUBLE_EQ(std::log(bands.of(1, 1024, {}).high), known);
    return std::log(bands.of(1, 1024, nearest).high) / known;
  };
  EXPECT_NEAR(end(1.44), 2, 0.1);
  EXPECT_EQ(end(1.1), 1);  // never narrower than the bands of known models
}

/// The tables from which the shipped parameters are fitted.
class NcclFitData : public testing::Test {
 protected:
  NcclFitData() {
    for (const char* name : {"tables.csv", "meta.json"}) {
      const std::string from = test::source_folder() + "/tools/nccl_fit/data/" + name + ".gz";
      EXPECT_EQ(std::system(("gzip -dc '" + from + "' > '" + path(name) + "'").c_str()), 0);
    }
    auto loaded = core::load_collective_tables(path("tables.csv"), path("meta.json"));
    EXPECT_TRUE(loaded) << loaded.error().message();
    if (loaded) tables_ = std::move(*loaded);
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return folder_.path() + "/" + name;
  }

  test::TemporaryFolder folder_;
  std::vector<CollectiveTable> tables_;
};

TEST_F(NcclFitData, EveryTableHasARecordOfItsSource) {
  EXPECT_GT(tables_.size(), 500U);
  std::size_t driven = 0;
  for (const CollectiveTable& one : tables_) {
    EXPECT_TRUE(one.problems.empty()) << one.facts.table_id;
    EXPECT_TRUE(one.unread.empty()) << one.facts.table_id;
    EXPECT_FALSE(one.rows.empty()) << one.facts.table_id;
    if (one.facts.driving) ++driven;
  }
  EXPECT_GT(driven, tables_.size() * 8 / 10);
  const auto meta = core::read_text_file(path("meta.json"));
  ASSERT_TRUE(meta);
  const auto count = [&](const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = meta->find(part); at != std::string::npos; at = meta->find(part, at + 1))
      ++found;
    return found;
  };
  EXPECT_EQ(count("\"source\": {"), tables_.size());
}

TEST_F(NcclFitData, TheShippedParametersAreAtAnOptimumOfTheFit) {
  std::vector<TableModel> models;
  for (const CollectiveTable& one : tables_) {
    if (!one.facts.healthy) continue;
    if (auto model = TableModel::of(one)) models.push_back(std::move(*model));
  }
  const Parameters start = Parameters::initial();
  const std::vector<Row> rows = rows_of(models, start);
  const Parameters figures = Parameters::load(test::source_folder() + "/scenarios").value();
  Fit fit(rows, start);
  EXPECT_LT(fit.cost_of(figures), fit.cost_of(start) - 0.05);
  const Parameters fitted = fit.run();
  for (std::size_t k = 0; k < figures.all().size(); ++k) {
    const core::nccl::Parameter& one = figures.all()[k];
    EXPECT_EQ(one.how.starts_with("fitted to " + std::to_string(fit.rows_of(k)) + " rows"),
              fit.rows_of(k) > 0)
        << one.name;
    EXPECT_NEAR(one.value, fitted.all()[k].value, 1e-3 * one.value) << one.name;
  }
}

TEST(NcclTwins, AreTablesOfTwoSystemsWithTheSameMetadata) {
  const Parameters truth = Parameters::initial();
  std::vector<CollectiveTable> tables = {
      table(a100("here", "all_reduce", 8, 1), truth),
      table(a100("there (of others)", "all_reduce", 8, 1), truth, 1.25),
      table(a100("there (of mine)", "all_reduce", 4, 1), truth),
      table(a100("elsewhere", "all_gather", 8, 1), truth)};
  const auto models = models_of(tables);
  const auto quality = between_twins(rows_of(models, truth)).quality();
  EXPECT_EQ(quality.rows, 2 * tables[0].rows.size());
  EXPECT_NEAR(quality.mean, (0.25 + 0.2) / 2, 1e-9);
  EXPECT_NEAR(quality.p90, 0.25, 1e-9);
}

TEST(QualityLine, ShortensNamesToWholeCharacters) {
  const core::nccl::Quality quality{.rows = 3, .median = 0.1};
  std::string name;
  for (int i = 0; i < 80; ++i) name += "…";
  const std::string line = quality_line(name, quality);
  EXPECT_TRUE(line.starts_with(name.substr(0, 72 * std::string("…").size()) + "      3 rows"))
      << line;
  EXPECT_TRUE(
      quality_line("fit", quality).starts_with("fit" + std::string(69, ' ') + "      3 rows"));
}

}  // namespace
}  // namespace tutti::nccl_fit
