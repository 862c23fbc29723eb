// Parameters of a cluster for calibration: which parameters of a scenario can be fitted, how values
// are set, and the text of the cluster with these values.

#include "core/calibrate/cluster_figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/calibrate/outliers.h"
#include "core/proto/scenario.pb.h"
#include "core/scenario/scenario.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"
#include "tests/support/program.h"
#include "tests/support/shipped.h"

namespace tutti::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string kRest =
    " workload { variable { name: \"a\" shape: 100000 } update_ms: 0 } strategy { algorithm: "
    "\"ring\" }";

ClusterFigures figures_of(const std::string& cluster, const std::string& rest = kRest) {
  auto figures =
      ClusterFigures::of("cluster { " + cluster + " }" + rest, "f", test::shipped_library());
  EXPECT_TRUE(figures) << (figures ? "" : figures.error().message());
  return std::move(*figures);
}

std::vector<std::string> names_of(const ClusterFigures& figures) {
  std::vector<std::string> names;
  for (const ClusterFigure& figure : figures.list())
    names.push_back(fmt::format("{} {:g}", figure.name, figure.before));
  return names;
}

constexpr const char* kTwoHosts =
    "workers { machine: \"cpu-host\" count: 2 } network { kind: ONE_SWITCH latency_us: 9 ";

TEST(ClusterFigures, HaveOneParameterPerKindAndValueOfLinks) {
  EXPECT_THAT(
      names_of(figures_of(
          "workers { machine: \"dgx1-v100\" count: 64 } network { kind: RAILS latency_us: 2 }",
          " workload { variable { name: \"a\" shape: 9 } } strategy { algorithm: \"nccl\" "
          "launch_us: 8 }")),
      ElementsAre("network.latency 2", "network.bandwidth 12.5", "nvlink.latency 0.6",
                  "nvlink.bandwidth:20 20", "nvlink.bandwidth:40 40", "pcie.latency 0.5",
                  "pcie.bandwidth 12", "socket.latency 0.5", "socket.bandwidth 6",
                  "gpu.reduce 263.333", "gpu.copy 395", "cpu.reduce 20.3333", "cpu.copy 30.5",
                  "launch 8"));
}

TEST(ClusterFigures, AClusterOfOneWorkerHasNoNetworkParameters) {
  EXPECT_THAT(names_of(figures_of("workers { machine: \"cpu-host\" }")),
              ElementsAre("pcie.latency 0.5", "pcie.bandwidth 6", "socket.latency 0.5",
                          "socket.bandwidth 10", "cpu.reduce 34", "cpu.copy 51"));
}

TEST(ClusterFigures, KeepAndReportZeros) {
  const ClusterFigures figures = figures_of(
      "workers { machine: \"cpu-host\" count: 2 } network { kind: ONE_SWITCH latency_us: 0 }");
  EXPECT_EQ(figures.list().front().name, "network.bandwidth");
  EXPECT_THAT(figures.notes(), testing::SizeIs(1)) << "of the latency, which stays 0";
}

/// Returns the scenario of a cluster with these parameters.
Scenario with(const ClusterFigures& figures, const std::vector<FigureSource>& values) {
  const auto scenario = read_scenario("cluster { " + figures.text(values) + " }" + kRest, "f",
                                      test::shipped_library());
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message());
  return *scenario;
}

TEST(ClusterFigures, WrittenTextsHaveTheNewValues) {
  const ClusterFigures figures = figures_of(std::string(kTwoHosts) + "}");
  std::vector<FigureSource> values;
  for (const ClusterFigure& figure : figures.list()) values.push_back({figure.before, ""});
  ASSERT_EQ(figures.list()[0].name, "network.latency");
  ASSERT_EQ(figures.list()[1].name, "network.bandwidth");
  values[0] = {31.25, "latency measured"};
  values[1] = {1.5, "bandwidth measured"};
  const Scenario scenario = with(figures, values);
  EXPECT_EQ(scenario.cluster->network()->latency, nanoseconds(31'250));
  EXPECT_EQ(scenario.cluster->network()->source, "latency measured");
  const Machine& machine = scenario.cluster->machine(0);
  const Part& card = machine.parts()[machine.nics()[0]];
  EXPECT_EQ(card.nic, Bandwidth(1'500'000'000));
  EXPECT_EQ(card.source, "bandwidth measured; 25 Gb/s") << "the source states the earlier value";
  EXPECT_THAT(figures.text(values), Not(HasSubstr("reduce_gb_per_s")))
      << "what was not fitted is not written";
}

TEST(ClusterFigures, OnlyTheNarrowerOfPortAndNicIsFitted) {
  for (const bool ports_limit : {true, false}) {
    const ClusterFigures figures =
        figures_of(std::string(kTwoHosts) +
                   (ports_limit ? "bandwidth_gb_per_s: 2 }" : "bandwidth_gb_per_s: 4 }"));
    std::vector<FigureSource> values;
    for (const ClusterFigure& figure : figures.list()) values.push_back({figure.before, ""});
    ASSERT_EQ(figures.list()[1].name, "network.bandwidth");
    EXPECT_EQ(figures.list()[1].before, ports_limit ? 2 : 3.125);
    for (const double fitted : {1.0, 3.5, 9.0}) {
      values[1] = {fitted, "measured"};
      const Scenario scenario = with(figures, values);
      EXPECT_EQ(scenario.cluster->link(scenario.cluster->links() - 1).bandwidth,
                bandwidth_from_gb_per_s(fitted))
          << "no other link limits it";
    }
  }
}

TEST(ClusterFigures, APortThatIsFittedDoesNotLimitAFasterNic) {
  const ClusterFigures shared = figures_of(std::string(kTwoHosts) + "bandwidth_gb_per_s: 2 }");
  const Outlier fast{1, Outlier::What::kCard, "nic0", "", Outlier::Figure::kRate, 0.5};
  const ClusterFigures figures = shared.with_outliers({fast});
  std::vector<FigureSource> values;
  for (const ClusterFigure& figure : figures.list()) {
    double value = figure.before;
    if (figure.name.starts_with("network.bandwidth")) {
      EXPECT_EQ(figure.before, 2) << figure.name << " starts at the bandwidth of the ports";
      value = figure.name == "network.bandwidth" ? 1.9 : 4;
    }
    values.push_back({value, "measured"});
  }
  const Scenario scenario = with(figures, values);
  const Cluster& cluster = *scenario.cluster;
  std::vector<Bandwidth> cards;
  for (LinkId link = 0; link < cluster.links(); ++link) {
    if (cluster.link(link).kind == LinkKind::kNetwork)
      cards.push_back(cluster.link(link).bandwidth);
  }
  std::sort(cards.begin(), cards.end());
  EXPECT_THAT(cards, ElementsAre(bandwidth_from_gb_per_s(1.9), bandwidth_from_gb_per_s(1.9),
                                 bandwidth_from_gb_per_s(4), bandwidth_from_gb_per_s(4)));
}

TEST(ClusterFigures, EqualStructuresIgnoreParameters) {
  const ClusterFigures figures = figures_of(std::string(kTwoHosts) + "}");
  std::vector<FigureSource> values;
  for (const ClusterFigure& figure : figures.list()) values.push_back({figure.before * 1.7, "x"});
  EXPECT_EQ(figures_of(figures.text(values)).structure(), figures.structure());
  EXPECT_EQ(
      figures_of(
          "workers { machine: \"cpu-host\" count: 2 } network { kind: ONE_SWITCH latency_us: 1 "
          "bandwidth_gb_per_s: 1 }")
          .structure(),
      figures.structure());
  EXPECT_NE(
      figures_of(
          "workers { machine: \"cpu-host\" count: 3 } network { kind: ONE_SWITCH latency_us: 9 }")
          .structure(),
      figures.structure());
  EXPECT_NE(
      figures_of("workers { machine: \"cpu-host\" count: 2 } network { kind: RAILS latency_us: 9 }")
          .structure(),
      figures.structure());
  EXPECT_NE(figures_of("workers { machine: \"cpu-host\" count: 2 replicas: 2 } network { kind: "
                       "ONE_SWITCH latency_us: 9 }")
                .structure(),
            figures.structure());
}

TEST(ClusterFigures, MachinesWithTheSameNameFromTwoFilesStayDistinct) {
  const test::TemporaryFolder folder;
  const auto machine = [&folder](const std::string& file, double rate) {
    static_cast<void>(
        folder.write(file, fmt::format("name: \"m\" device {{ name: \"cpu0\" kind: CPU "
                                       "memory_gb_per_s: {} }} nic {{ name: \"n\" "
                                       "bandwidth_gb_per_s: 4 }} link {{ from: \"cpu0\" to: \"n\" "
                                       "kind: PCIE bandwidth_gb_per_s: 6 "
                                       "latency_us: 1 }}",
                                       rate)));
  };
  machine("a.textproto", 30);
  machine("b.textproto", 60);
  const auto figures = ClusterFigures::of(
      "cluster { workers { machine: \"a.textproto\" } workers { machine: \"b.textproto\" } network "
      "{ "
      "kind: ONE_SWITCH latency_us: 9 } }" +
          kRest,
      folder.file("s"), test::shipped_library());
  ASSERT_TRUE(figures) << figures.error().message();
  std::vector<FigureSource> values;
  for (const ClusterFigure& figure : figures->list()) values.push_back({figure.before, ""});
  const Scenario scenario = with(*figures, values);
  EXPECT_EQ(describe(*scenario.cluster), "1 × m + 1 × m-2, 2 CPUs");
  EXPECT_EQ(scenario.cluster->part(scenario.cluster->replica(1)).device.memory,
            Bandwidth(60'000'000'000));
}

TEST(ClusterFigures, AllShippedMachinesCanBeWrittenOut) {
  for (const std::string& machine : test::shipped_library().names(Library::Kind::kMachine)) {
    const ClusterFigures figures =
        figures_of("workers { machine: \"" + machine +
                   "\" count: 2 } network { kind: ONE_SWITCH latency_us: 1 }");
    std::vector<FigureSource> values;
    for (const ClusterFigure& figure : figures.list()) values.push_back({figure.before, "fitted"});
    const Scenario before = with(figures, std::vector<FigureSource>(values.size()));
    const Scenario after = with(figures, values);
    for (LinkId link = 0; link < before.cluster->links(); ++link) {
      EXPECT_EQ(after.cluster->link(link).bandwidth, before.cluster->link(link).bandwidth);
      EXPECT_EQ(after.cluster->link(link).latency, before.cluster->link(link).latency);
    }
  }
}

TEST(ClusterFigures, ALinkKindIsWrittenAsItsParameters) {
  const ClusterFigures figures = figures_of(
      "workers { machine: \"dgx1-v100\" count: 4 } network { kind: FAT_TREE link: \"edr\" fat_tree "
      "{ workers_per_leaf: "
      "2 "
      "spines: 2 } }");
  std::vector<FigureSource> values;
  bool latency = false;
  for (const ClusterFigure& figure : figures.list()) {
    const bool this_one = figure.name == "network.latency";
    if (this_one) {
      EXPECT_EQ(figure.before, 1.5);
    }
    latency = latency || this_one;
    values.push_back(this_one ? FigureSource{3, "fitted"} : FigureSource{});
  }
  EXPECT_TRUE(latency);
  const Scenario before = with(figures, std::vector<FigureSource>(values.size()));
  const Scenario after = with(figures, values);
  EXPECT_EQ(before.cluster->network()->latency, nanoseconds(1'500));
  EXPECT_EQ(after.cluster->network()->latency, microseconds(3));
  EXPECT_EQ(after.cluster->network()->fat_tree.uplink, before.cluster->network()->fat_tree.uplink);
  EXPECT_EQ(after.cluster->network()->fat_tree.switch_latency, nanoseconds(140));
}

TEST(ClusterFigures, RefusesAScenarioWithErrors) {
  const auto figures = ClusterFigures::of("cluster { wrokers {} }", "f", test::shipped_library());
  EXPECT_THAT(figures,
              test::FailsWith(test::Mistake{ProblemCode::kUnknownField, "Cluster.wrokers", 1, 11}));
}

}  // namespace
}  // namespace tutti::core
