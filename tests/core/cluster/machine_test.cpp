#include "core/cluster/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/random.h"
#include "core/cluster/machine_file.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"
#include "tests/support/shipped.h"

namespace tutti::core {
namespace {

using testing::ElementsAre;

/// Returns the parts on the route, such as "gpu0 plx0 cpu0".
std::string way(const Machine& m, const std::string& from, const std::string& to) {
  const auto index = [&](const std::string& name) {
    for (int i = 0; i < static_cast<int>(m.parts().size()); ++i) {
      if (m.parts()[i].name == name) return i;
    }
    return -1;
  };
  const auto route = m.route(index(from), index(to));
  if (!route) return "none";
  std::string text = from;
  for (const int l : *route) text += " " + m.parts()[m.links()[l].to].name;
  return text;
}

TEST(Route, PrefersTheWidestAndThenTheShortestRoute) {
  const auto m = test::shipped_machine("dgx1-v100");
  EXPECT_EQ(way(*m, "gpu0", "gpu3"), "gpu0 gpu3") << "NVLink";
  EXPECT_EQ(way(*m, "gpu0", "gpu5"), "gpu0 plx0 cpu0 cpu1 plx2 gpu5")
      << "there is no NVLink, and GPUs do not forward";
  EXPECT_EQ(way(*m, "gpu0", "cpu0"), "gpu0 plx0 cpu0");
  EXPECT_EQ(way(*m, "gpu7", "nic3"), "gpu7 plx3 nic3");
  EXPECT_EQ(way(*m, "gpu2", "gpu2"), "gpu2");
  const auto h100 = test::shipped_machine("hgx-h100");
  EXPECT_EQ(way(*h100, "gpu0", "gpu7"), "gpu0 nvswitch gpu7");
}

/// Two switches with two GPUs each, and one CPU. Links carry 12 GB/s.
Machine behind_switches(bool peer_access) {
  std::vector<Part> parts(7);
  const char* const names[] = {"gpu0", "gpu1", "gpu2", "gpu3", "plx0", "plx1", "cpu0"};
  for (int i = 0; i < 7; ++i) {
    parts[i].name = names[i];
    parts[i].kind = i < 4 ? PartKind::kGpu : i < 6 ? PartKind::kPcieSwitch : PartKind::kCpu;
    parts[i].peer_access = peer_access;
  }
  std::vector<MachineLink> links;
  for (const auto& [a, b] : {std::pair(0, 4), {1, 4}, {2, 5}, {3, 5}, {4, 6}, {5, 6}}) {
    for (const auto& [from, to] : {std::pair(a, b), {b, a}})
      links.push_back({from, to, LinkKind::kPcie, Bandwidth(12'000'000'000), {}, ""});
  }
  return Machine("m", parts, links, {}, {});
}

TEST(Route, PassesTheCpuBetweenGpusWithoutPeerAccess) {
  EXPECT_EQ(way(behind_switches(true), "gpu0", "gpu1"), "gpu0 plx0 gpu1");
  EXPECT_EQ(way(behind_switches(false), "gpu0", "gpu1"), "gpu0 plx0 cpu0 plx0 gpu1");
  EXPECT_EQ(way(behind_switches(false), "gpu0", "gpu3"), "gpu0 plx0 cpu0 plx1 gpu3");
  EXPECT_EQ(way(behind_switches(false), "cpu0", "gpu3"), "cpu0 plx1 gpu3");
}

TEST(Route, GpusOfASwitchShareItsLinkToTheCpu) {
  const Machine m = behind_switches(false);
  EXPECT_EQ(m.to_host(1).of_gpu, Bandwidth(12'000'000'000));
  EXPECT_EQ(m.to_host(4).of_gpu, Bandwidth(6'000'000'000));
  EXPECT_EQ(m.to_host(4).gpus, 2);
}

TEST(Route, BetweenTwoGpusWithAnNvlinkIsTheNvlinkEvenIfPcieIsWider) {
  std::vector<Part> parts(3);
  parts[0].kind = parts[1].kind = PartKind::kGpu;
  parts[2].kind = PartKind::kPcieSwitch;
  const auto link = [](int from, int to, LinkKind kind, std::int64_t rate) {
    return MachineLink{from, to, kind, Bandwidth(rate), {}, ""};
  };
  const Machine m("m", parts,
                  {link(0, 2, LinkKind::kPcie, 48), link(2, 1, LinkKind::kPcie, 48),
                   link(1, 2, LinkKind::kPcie, 48), link(2, 0, LinkKind::kPcie, 48),
                   link(0, 1, LinkKind::kNvlink, 40)},
                  {}, {});
  EXPECT_THAT(*m.route(0, 1), testing::ElementsAre(4));
  EXPECT_THAT(*m.route(1, 0), testing::ElementsAre(2, 3)) << "no NVLink in this direction";
}

/// Returns the bandwidth of the narrowest link on the widest route, found by trying all routes.
Bandwidth widest_by_search(const Machine& m, int at, int to, std::vector<bool>& seen,
                           Bandwidth so_far) {
  if (at == to) return so_far;
  const PartKind kind = m.parts()[at].kind;
  const bool first = std::count(seen.begin(), seen.end(), true) == 0;
  if (!first && (kind == PartKind::kGpu || kind == PartKind::kNic)) return Bandwidth();
  seen[at] = true;
  Bandwidth best;
  for (const MachineLink& l : m.links()) {
    if (l.from != at || seen[l.to]) continue;
    best = std::max(best, widest_by_search(m, l.to, to, seen, std::min(so_far, l.bandwidth)));
  }
  seen[at] = false;
  return best;
}

TEST(Route, IsAsWideAsAnExhaustiveSearchFinds) {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<Part> parts(7);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      parts[i].name = "p" + std::to_string(i);
      parts[i].kind =
          i < 3 ? PartKind::kGpu
                : (i < 5 ? PartKind::kPcieSwitch : (i == 5 ? PartKind::kCpu : PartKind::kNic));
    }
    std::vector<MachineLink> links;
    for (int i = 0; i < 7; ++i) {
      for (int j = 0; j < 7; ++j) {
        if (i != j && random.below(3) == 0)
          links.push_back({i,
                           j,
                           LinkKind::kPcie,
                           Bandwidth(static_cast<std::int64_t>(1 + random.below(4))),
                           {},
                           ""});
      }
    }
    const Machine m("random", parts, links, {}, {});
    for (int from = 0; from < 7; ++from) {
      for (int to = 0; to < 7; ++to) {
        if (from == to) continue;
        std::vector<bool> seen(7, false);
        const Bandwidth widest = widest_by_search(
            m, from, to, seen, Bandwidth(std::numeric_limits<std::int64_t>::max()));
        const auto route = m.route(from, to);
        ASSERT_EQ(route.has_value(), widest.count() > 0);
        if (!route) continue;
        Bandwidth narrowest{std::numeric_limits<std::int64_t>::max()};
        int at = from;
        for (const int l : *route) {
          const MachineLink& link = m.links()[l];
          EXPECT_EQ(link.from, at);
          at = link.to;
          narrowest = std::min(narrowest, link.bandwidth);
        }
        EXPECT_EQ(at, to);
        EXPECT_EQ(narrowest, widest);
      }
    }
  }
}

TEST(NearestNic, IsBehindTheSamePcieSwitchAndTiesAreRoundRobin) {
  const auto dgx1 = test::shipped_machine("dgx1-v100");
  std::vector<int> nics;
  for (const int gpu : dgx1->gpus()) nics.push_back(dgx1->nearest_nic(gpu));
  EXPECT_THAT(nics, ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
  const auto a100 = test::shipped_machine("dgx-a100");
  nics.clear();
  for (const int gpu : a100->gpus()) nics.push_back(a100->nearest_nic(gpu));
  EXPECT_THAT(nics, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7))
      << "two cards per switch, two GPUs: one each";
}

TEST(ExpandName, ExpandsRanges) {
  EXPECT_THAT(*expand_name("gpu[8-11]"), ElementsAre("gpu8", "gpu9", "gpu10", "gpu11"));
  EXPECT_THAT(*expand_name("a[0-1]/b"), ElementsAre("a0/b", "a1/b"));
  EXPECT_THAT(*expand_name("cpu"), ElementsAre("cpu"));
  for (const char* wrong : {"g[1-0]", "g[0-", "g[0]", "g0]", "g[-1-2]", "g[0-99999999]", "g[a-b]"})
    EXPECT_FALSE(expand_name(wrong)) << wrong;
}

TEST(LoadMachine, ReportsUnknownLinkEndsUpToALimit) {
  const std::string path = testing::TempDir() + "ends.textproto";
  std::ofstream out(path);
  out << "name: \"m\" device { name: \"gpu[0-99]\" kind: GPU memory_gb_per_s: 1 }\n";
  for (int i = 0; i < 1000; ++i)
    out << "link { from: \"gpu[0-99]\" to: \"gqu7\" kind: PCIE bandwidth_gb_per_s: 1 latency_us: 0 "
           "}\n";
  out.close();
  const auto machine = load_machine(path);
  ASSERT_FALSE(machine);
  const std::vector<Problem>& problems = machine.error().problems();
  ASSERT_EQ(problems.size(), 201u);
  EXPECT_EQ(to_string(problems[0]), path +
                                        ":2:30: link \"gpu[0-99]\"–\"gqu7\": to \"gqu7\" does not "
                                        "exist: machine \"m\" has no such part; did you "
                                        "mean \"gpu7\"?");
}

TEST(LinkRates, AreComputedFromPcieGenerationAndLanes) {
  const auto machine = [](const std::string& link) {
    return read_machine(
        "name: \"m\" device { name: \"gpu[0-1]\" kind: GPU memory_gb_per_s: 1 } link { from: "
        "\"gpu0\" to: \"gpu1\" "
        "latency_us: 1 " +
            link + "}",
        "m");
  };
  const auto rate = [&](const std::string& link) {
    return to_gb_per_s((*machine(link))->links().front().bandwidth);
  };
  EXPECT_EQ(rate("kind: NVLINK generation: 4 lanes: 18"), 370.8) << "NCCL's rate of H100";
  EXPECT_EQ(rate("kind: NVLINK generation: 1"), 18) << "one link";
  EXPECT_EQ(rate("kind: PCIE generation: 5"), 48) << "16 lanes";
  EXPECT_EQ(rate("kind: PCIE generation: 3 lanes: 8"), 6);
  EXPECT_EQ(rate("kind: PCIE generation: 3 bandwidth_gb_per_s: 10.5"), 10.5) << "measured here";

  const auto problem = [&](const std::string& link) { return test::kinds_of(machine(link)); };
  using testing::ElementsAre;
  EXPECT_THAT(problem("kind: PCIE generation: 3 bandwidth_gb_per_s: 15.76"),
              ElementsAre("too-large Link.bandwidth_gb_per_s"));
  EXPECT_THAT(problem("kind: PCIE generation: 3 bandwidth_gb_per_s: 15.75"), testing::IsEmpty());
  EXPECT_THAT(problem("kind: NVLINK generation: 6"), ElementsAre("invalid Link.generation"));
  EXPECT_THAT(problem("kind: PCIE generation: 7"), ElementsAre("invalid Link.generation"));
  EXPECT_THAT(problem("kind: SOCKET generation: 1"), ElementsAre("invalid Link.generation"));
  EXPECT_THAT(problem("kind: NVLINK lanes: 6 bandwidth_gb_per_s: 6"),
              ElementsAre("unused Link.lanes"));
  EXPECT_THAT(problem("kind: PCIE generation: 3 lanes: 33"), ElementsAre("too-large Link.lanes"));
  EXPECT_THAT(problem("kind: PCIE"), ElementsAre("missing Link.bandwidth_gb_per_s"));
}

}  // namespace
}  // namespace tutti::core
