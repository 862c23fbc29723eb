// The times of all-reduces, all-gathers and reduce-scatters with in-network reduction. The
// predicted times are compared with the bytes that links carry, with closed forms computed by hand,
// and with published tables.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/measured/nccl_tests.h"
#include "core/nccl/collnet.h"
#include "core/nccl/search/searched_communicator.h"
#include "core/nccl/system_of_topology.h"
#include "core/nccl/time/prediction.h"
#include "core/nccl/topology/topology_file.h"
#include "tests/core/nccl/communicators.h"
#include "tests/support/clusters.h"

namespace tutti::core::nccl {
namespace {

constexpr Algorithm kByNetwork[] = {Algorithm::kCollNetDirect, Algorithm::kCollNetChain,
                                    Algorithm::kNvls};

Parameters shipped_parameters() {
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
                     const Parameters& parameters = shipped_parameters()) {
  const auto comm = uniform_communicator(s, kDefaultVersion, on());
  EXPECT_TRUE(comm);
  return predict(s, *comm, {function, bytes},
                 {algorithm, Protocol::kSimple, comm->channels, 640, 0}, parameters);
}

TEST(SharpTime, NicsCarryHalfTheBytesOfARing) {
  const std::int64_t bytes = std::int64_t{1} << 32;
  for (const int nodes : {2, 8, 64, 1024}) {
    const double n = nodes * 8;
    const double ring =
        predicted(reducing(nodes), Algorithm::kRing, Function::kAllReduce, bytes).cards.bytes;
    EXPECT_DOUBLE_EQ(ring, 2 * (n - 1) / n * static_cast<double>(bytes));
    for (const Algorithm algorithm : kByNetwork) {
      const double sharp =
          predicted(reducing(nodes), algorithm, Function::kAllReduce, bytes).cards.bytes;
      EXPECT_DOUBLE_EQ(sharp, static_cast<double>(bytes)) << to_string(algorithm);
      EXPECT_NEAR(sharp / ring, 0.5, 0.04) << nodes;
    }
  }
}

TEST(SharpTime, TheTimeOfSmallMessagesGrowsOnlyWithTheLevelsOfSwitches) {
  const Parameters p = shipped_parameters();
  for (const Algorithm algorithm : kByNetwork) {
    const auto us = [&](int nodes) {
      return predicted(reducing(nodes), algorithm, Function::kAllReduce, 8, p).us();
    };
    EXPECT_DOUBLE_EQ(us(2), us(32)) << to_string(algorithm);  // all GPUs are below one switch
    EXPECT_NEAR(us(33) - us(32), p.of(SharpFigure::kLevel), 1e-3);
    EXPECT_NEAR(us(1025) - us(32), 2 * p.of(SharpFigure::kLevel), 1e-3);
  }
  const auto ring = [&](int nodes) {
    return predicted(reducing(nodes), Algorithm::kRing, Function::kAllReduce, 8, p).us();
  };
  EXPECT_GT(ring(32), 10 * ring(2));
}

TEST(SharpTime, IsNeverBelowTheTransferTimeOfTheNics) {
  const Parameters p = shipped_parameters();
  for (const Algorithm algorithm : kByNetwork) {
    for (const Function function :
         {Function::kAllReduce, Function::kAllGather, Function::kReduceScatter}) {
      if (algorithm == Algorithm::kCollNetChain && function != Function::kAllReduce) continue;
      double before = 0;
      for (std::int64_t bytes = 1 << 13; bytes <= std::int64_t{1} << 33; bytes *= 2) {
        const Prediction made = predicted(reducing(4), algorithm, function, bytes, p);
        const double moved =
            static_cast<double>(bytes) * (function == Function::kAllGather ? 3.0 / 4 : 1);
        EXPECT_GE(made.us(), moved / (8 * 50 * p.of(SharpFigure::kShare)) / 1e3)
            << to_string(algorithm) << bytes;
        EXPECT_DOUBLE_EQ(made.cards.bytes, moved);
        EXPECT_GE(std::min({made.launch, made.hops, made.fill, made.transfer}), 0);
        EXPECT_GE(made.us(), before * 0.9);  // chunks are smaller at some sizes
        before = made.us();
      }
    }
  }
}

// With infinitely fast links inside nodes, only the cards limit the time: S / (8 · 50 · share).
// With infinitely fast cards, CollNetDirect's NVLinks carry 2 · 7/8 S with 8 heads, CollNetChain's
// carry 2 S, and NVLS' multicast carries (1 + 1/8) S.
TEST(SharpTime, TheTimeOfLargeMessagesIsThatOfTheNarrowestLinks) {
  const double bytes = static_cast<double>(std::int64_t{1} << 36);
  const Parameters p = shipped_parameters();
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
    EXPECT_STRNE(us(slow).narrowest, us(fast).narrowest);
    EXPECT_NEAR(us(fast).links.us, inside[a] / 1e3, 1e-4 * us(fast).links.us)
        << to_string(kByNetwork[a]);
    EXPECT_GE(us(fast).us(), us(fast).links.us);
  }
}

TEST(SharpTime, ParametersArePublishedInsteadOfFitted) {
  int found = 0;
  const Parameters p = shipped_parameters();
  for (const Parameter& one : p.all()) {
    if (!one.name.starts_with("sharp.")) continue;
    ++found;
    EXPECT_THAT(one.how, testing::StartsWith("published: ")) << one.name;
    EXPECT_EQ(one.kind, one.name);  // a fit without matching rows leaves the value unchanged
  }
  EXPECT_EQ(found, static_cast<int>(kSharpFigures));
}

// --- published tables (tests/reference/nccl/README.md) ---

std::string reference(const std::string& name) {
  return test::source_folder() + "/tests/reference/nccl/" + name;
}

/// Returns the ratios of measured to predicted times, by bytes.
std::vector<std::pair<std::int64_t, double>> ratios(const std::string& log, const System& s,
                                                    const Communicator& comm,
                                                    const Settings& settings) {
  const auto tables = load_nccl_tests(reference(log));
  EXPECT_TRUE(tables && tables->size() == 1) << log;
  const Parameters p = shipped_parameters();
  std::vector<std::pair<std::int64_t, double>> made;
  for (const NcclTestsRow& row : tables->front().rows) {
    const Operation operation{Function::kAllReduce, row.bytes};
    const auto choice = choose(comm, tune(comm, settings), operation);
    EXPECT_TRUE(choice && by_network(choice->algorithm, comm.nodes)) << row.bytes;
    made.emplace_back(row.bytes,
                      row.out_of_place->us / predict(s, comm, operation, *choice, p).us());
  }
  return made;
}

// The model was fitted to none of these tables. SHARP's parameters are published (see above), and
// the GPUs' parameters come from tables without SHARP.
TEST(SharpTime, IsCloseToAPublishedTableOfH100) {
  const System s = reducing(12);
  const Version version{2, 18, 1};
  const auto settings =
      read_settings({{"NCCL_COLLNET_ENABLE", "1"}, {"NCCL_ALGO", "COLLNETCHAIN"}}, version);
  const auto comm = uniform_communicator(s, version, *settings);
  ASSERT_TRUE(comm);
  const auto made = ratios("sharp-h100.log", s, *comm, *settings);
  EXPECT_EQ(made.size(), 5U);
  for (const auto& [bytes, ratio] : made) EXPECT_NEAR(ratio, 1, 0.1) << bytes;
}

struct FourCards {
  System system;
  Communicator comm;
};
FourCards a100_with_four_cards(Version version) {
  const auto topology = load_topology(reference("sharp-a100.xml"));
  EXPECT_TRUE(topology);
  const SearchSettings search = *search_settings(on());
  const auto found = search_graphs(*topology, 4, search);
  return {*system_of(*topology, *found, 4, search, std::nullopt),
          *communicator_of(*topology, *found, 4, on(), version)};
}

TEST(SharpTime, IsCloseToAPublishedTableOfA100) {
  const FourCards a100 = a100_with_four_cards({2, 16, 2});
  const auto made = ratios("sharp-a100.log", a100.system, a100.comm, on());
  EXPECT_EQ(made.size(), 5U);
  for (const auto& [bytes, ratio] : made) EXPECT_NEAR(ratio, 1, 0.1) << bytes;
}

// The same machines half a year earlier, with times that are up to twice as long. The model
// predicts the later times.
TEST(SharpTime, IsShorterThanAnOlderPublishedTable) {
  const FourCards a100 = a100_with_four_cards({2, 12, 12});
  const auto made = ratios("sharp-a100-2022.log", a100.system, a100.comm, on());
  EXPECT_EQ(made.size(), 31U);
  for (const auto& [bytes, ratio] : made) {
    // The smallest take the launch and one hop, which were the same then.
    if (bytes <= 1024) {
      EXPECT_NEAR(ratio, 1, 0.1) << bytes;
    } else {
      EXPECT_GE(ratio, 1) << bytes;
      EXPECT_LE(ratio, bytes >= 1 << 28 ? 1.25 : 2) << bytes;
    }
  }
}

}  // namespace
}  // namespace tutti::core::nccl
