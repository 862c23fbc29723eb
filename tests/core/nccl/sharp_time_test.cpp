// The time of all-reduces, all-gathers and reduce-scatters that the network's switches reduce: laws of what they carry, closed forms by hand, and two published tables.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/file.h"
#include "core/nccl/collnet.h"
#include "core/nccl/time/prediction.h"
#include "core/text/csv.h"
#include "tests/core/nccl/communicators.h"
#include "tests/support/clusters.h"

namespace tutti::core::nccl {
namespace {

constexpr Algorithm kByNetwork[] = {Algorithm::kCollNetDirect, Algorithm::kCollNetChain, Algorithm::kNvls};

Parameters shipped() {
  const auto loaded = Parameters::load(test::source_folder() + "/scenarios");
  EXPECT_TRUE(loaded);
  return loaded.value_or(Parameters::initial());
}

Settings on() {
  Settings settings;
  settings.collnet = true;
  return settings;
}

System reducing(int nodes) {
  System s = test::hopper_system(nodes, 8);
  s.collnet = true;
  return s;
}

Prediction predicted(const System& s, Algorithm algorithm, Function function, std::int64_t bytes,
                     const Parameters& parameters = shipped()) {
  const auto comm = uniform_communicator(s, kDefaultVersion, on());
  EXPECT_TRUE(comm);
  return predict(s, *comm, {function, bytes}, {algorithm, Protocol::kSimple, comm->channels, 640, 0}, parameters);
}

TEST(SharpTime, CardsCarryHalfOfWhatARingsDoBetweenManyNodes) {
  const std::int64_t bytes = std::int64_t{1} << 32;
  for (const int nodes : {2, 8, 64, 1024}) {
    const double n = nodes * 8;
    const double ring = predicted(reducing(nodes), Algorithm::kRing, Function::kAllReduce, bytes).cards.bytes;
    EXPECT_DOUBLE_EQ(ring, 2 * (n - 1) / n * static_cast<double>(bytes));
    for (const Algorithm algorithm : kByNetwork) {
      const double sharp = predicted(reducing(nodes), algorithm, Function::kAllReduce, bytes).cards.bytes;
      EXPECT_DOUBLE_EQ(sharp, static_cast<double>(bytes)) << to_string(algorithm);
      EXPECT_NEAR(sharp / ring, 0.5, 0.04) << nodes;
    }
  }
}

TEST(SharpTime, OfSmallMessagesGrowsByALevelOfSwitchesAlone) {
  const Parameters p = shipped();
  for (const Algorithm algorithm : kByNetwork) {
    const auto us = [&](int nodes) { return predicted(reducing(nodes), algorithm, Function::kAllReduce, 8, p).us(); };
    EXPECT_DOUBLE_EQ(us(2), us(32)) << to_string(algorithm);  // all below one switch
    EXPECT_NEAR(us(33) - us(32), p.of(SharpFigure::kLevel), 1e-3);
    EXPECT_NEAR(us(1025) - us(32), 2 * p.of(SharpFigure::kLevel), 1e-3);
  }
  const auto ring = [&](int nodes) {
    return predicted(reducing(nodes), Algorithm::kRing, Function::kAllReduce, 8, p).us();
  };
  EXPECT_GT(ring(32), 10 * ring(2));
}

TEST(SharpTime, IsNeverLessThanWhatTheCardsCarry) {
  const Parameters p = shipped();
  for (const Algorithm algorithm : kByNetwork) {
    for (const Function function : {Function::kAllReduce, Function::kAllGather, Function::kReduceScatter}) {
      if (algorithm == Algorithm::kCollNetChain && function != Function::kAllReduce) continue;
      double before = 0;
      for (std::int64_t bytes = 1 << 13; bytes <= std::int64_t{1} << 33; bytes *= 2) {
        const Prediction made = predicted(reducing(4), algorithm, function, bytes, p);
        const double moved = static_cast<double>(bytes) * (function == Function::kAllGather ? 3.0 / 4 : 1);
        EXPECT_GE(made.us(), moved / (8 * 50 * p.of(SharpFigure::kShare)) / 1e3) << to_string(algorithm) << bytes;
        EXPECT_DOUBLE_EQ(made.cards.bytes, moved);
        EXPECT_GE(std::min({made.launch, made.hops, made.fill, made.transfer}), 0);
        EXPECT_GE(made.us(), before * 0.9);  // chunks shrink at some sizes
        before = made.us();
      }
    }
  }
}

// With links that are free the cards alone are left: S / (8 · 50 · share). With cards that are free CollNetDirect's NVLinks carry 2 · 7/8 S of 8 heads,
// CollNetChain's 2 S, and NVLS' multicast (1 + 1/8) S.
TEST(SharpTime, OfLongMessagesIsTheNarrowestWay) {
  const double bytes = static_cast<double>(std::int64_t{1} << 36);
  const Parameters p = shipped();
  System slow = reducing(4);
  slow.nic_gb_per_s = 1;
  System fast = reducing(4);
  fast.nic_gb_per_s = 1e4;
  fast.pcie_gb_per_s = 1e4;
  const double nvlink = 18 * 25 * p.of(GpuGeneration::kHopper, GpuFigure::kNvlinkShare);
  const double multicast = 18 * 25 * p.of(GpuGeneration::kHopper, GpuFigure::kNvlsShare);
  const double inside[] = {1.75 * bytes / nvlink, 2 * bytes / nvlink, 1.125 * bytes / multicast};
  for (std::size_t a = 0; a < 3; ++a) {
    const auto us = [&](const System& s) {
      return predicted(s, kByNetwork[a], Function::kAllReduce, static_cast<std::int64_t>(bytes), p);
    };
    EXPECT_NEAR(us(slow).us(), bytes / (8 * p.of(SharpFigure::kShare)) / 1e3, 0.01 * us(slow).us());
    EXPECT_THAT(us(slow).narrowest, testing::HasSubstr("switches that add"));
    EXPECT_NEAR(us(fast).links.us, inside[a] / 1e3, 1e-4 * us(fast).links.us) << to_string(kByNetwork[a]);
    EXPECT_GE(us(fast).us(), us(fast).links.us);
  }
}

TEST(SharpTime, FiguresArePublishedNotFitted) {
  int found = 0;
  const Parameters p = shipped();
  for (const Parameter& one : p.all()) {
    if (!one.name.starts_with("sharp.")) continue;
    ++found;
    EXPECT_THAT(one.how, testing::StartsWith("published: ")) << one.name;
    EXPECT_EQ(one.kind, one.name);  // a fit that has no row of it leaves it as it is
  }
  EXPECT_EQ(found, static_cast<int>(kSharpFigures));
}

// Neither table taught the model: figures of SHARP are others' (above), those of GPUs from tables without.
TEST(SharpTime, LiesNearPublishedTables) {
  const std::string path = test::source_folder() + "/tests/reference/nccl/sharp-coreweave.csv";
  const auto text = read_text_file(path);
  ASSERT_TRUE(text);
  Problems problems;
  const CsvTable table = parse_csv(*text, path, problems);
  ASSERT_TRUE(problems.empty());
  ASSERT_EQ(table.rows.size(), 10U);
  const Parameters p = shipped();
  for (const CsvTable::Row& row : table.rows) {
    const auto cell = [&](const char* name) { return row.cells[static_cast<std::size_t>(table.column(name))].text; };
    System s = reducing(std::stoi(cell("nodes")));
    if (cell("gpu") == "a100") {
      s.generation = GpuGeneration::kAmpere;
      s.compute_capability = 80;
      s.nvlinks = 12;
      s.pcie_gb_per_s = 24;
    }
    s.nics = std::stoi(cell("cards"));
    s.nic_gb_per_s = std::stod(cell("card_gb_per_s"));
    const auto version = parse_version(cell("version"));
    ASSERT_TRUE(version);
    Settings settings = on();
    if (cell("gpu") == "h100")
      settings = *read_settings({{"NCCL_COLLNET_ENABLE", "1"}, {"NCCL_ALGO", "COLLNETCHAIN"}}, *version);
    const auto comm = uniform_communicator(s, *version, settings);
    ASSERT_TRUE(comm) << comm.error().message();
    const Operation operation{Function::kAllReduce, std::stoll(cell("bytes"))};
    const auto choice = choose(*comm, tune(*comm, settings), operation);
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->algorithm, Algorithm::kCollNetChain);
    const double us = predict(s, *comm, operation, *choice, p).us();
    EXPECT_NEAR(us / std::stod(cell("us")), 1, 0.1) << cell("gpu") << " " << operation.bytes;
  }
}

}  // namespace
}  // namespace tutti::core::nccl
