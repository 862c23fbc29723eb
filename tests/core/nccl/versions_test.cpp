// Compares the cost models of 25 releases with results of the code of these releases
// (tests/reference/nccl), for collectives with and without in-network reduction.

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "core/base/file.h"
#include "core/nccl/tuning/choice.h"
#include "core/text/csv.h"
#include "tests/core/nccl/golden.h"
#include "tests/support/clusters.h"

namespace tutti::core::nccl {
namespace {

/// The latency, the bandwidth, and the times of four sizes.
using Figures = std::array<double, 6>;
constexpr std::array<std::int64_t, 4> kSizes = {8, 4096, 1 << 20, 1 << 28};

/// Figures by function, algorithm and protocol.
using Answers = std::map<std::tuple<std::string, std::string, std::string>, Figures>;

std::map<std::pair<std::string, std::string>, Answers> of_nccl(const std::string& file) {
  const std::string path = test::source_folder() + "/tests/reference/nccl/" + file;
  const auto text = read_text_file(path);
  EXPECT_TRUE(text);
  Problems problems;
  const CsvTable table = parse_csv(*text, path, problems);
  EXPECT_TRUE(problems.empty());
  std::map<std::pair<std::string, std::string>, Answers> all;
  for (const CsvTable::Row& row : table.rows) {
    const auto& cells = row.cells;
    Figures& figures =
        all[{cells[0].text, cells[1].text}][{cells[2].text, cells[3].text, cells[4].text}];
    for (std::size_t i = 0; i < figures.size(); ++i) figures[i] = std::stod(cells[5 + i].text);
  }
  return all;
}

Answers ours(const Communicator& comm, const Settings& settings = {}) {
  Answers answers;
  const Model model = tune(comm, settings);
  for (std::size_t f = 0; f < kFunctions; ++f) {
    for (std::size_t size = 0; size < kSizes.size(); ++size) {
      for (const Candidate& one :
           candidates(comm, model, {static_cast<Function>(f), kSizes[size]})) {
        if (one.off) continue;
        Figures& figures =
            answers[{std::string(kFunctionNames[f]), std::string(to_string(one.algorithm)),
                     std::string(to_string(one.protocol))}];
        const Entry& entry = model.entry(static_cast<Function>(f), one.algorithm, one.protocol);
        figures[0] = entry.latency_us;
        figures[1] = entry.bandwidth;
        figures[2 + size] = one.time_us;
      }
    }
  }
  return answers;
}

/// Compares the figures, and returns how many there were.
int expect_same(const Answers& ours, const Answers::key_type& cell, const Figures& theirs,
                const std::string& where) {
  const auto& [function, algorithm, protocol] = cell;
  const std::string what = where + " " + function + " " + algorithm + "/" + protocol;
  const auto found = ours.find(cell);
  if (found == ours.end()) {
    ADD_FAILURE() << what << " is missing";
    return 0;
  }
  for (std::size_t i = 0; i < theirs.size(); ++i)
    EXPECT_NEAR(found->second[i], theirs[i], 2e-6 * theirs[i]) << what << " figure " << i;
  return static_cast<int>(theirs.size());
}

TEST(NcclVersions, LatenciesBandwidthsAndTimesMatchEveryRelease) {
  const auto all = of_nccl("tuning-by-version.csv");
  std::set<std::string> versions;
  int compared = 0;
  for (const auto& [key, theirs] : all) {
    Communicator comm = test::communicator_of(test::nccl_case(key.first));
    comm.version = parse_version(key.second).value();
    versions.insert(key.second);
    const Answers answers = ours(comm);
    EXPECT_EQ(answers.size(), theirs.size()) << key.first << " " << key.second;
    for (const auto& [cell, figures] : theirs) {
      compared += expect_same(answers, cell, figures, key.first + " " + key.second);
    }
  }
  EXPECT_EQ(versions.size(), 25U);
  EXPECT_GT(compared, 35'000);
}

// --- in-network reduction ---

Graph graph(Pattern pattern, int channels, float bw_intra, float bw_inter) {
  Graph made;
  made.pattern = pattern;
  made.channels = channels;
  made.bw_intra = bw_intra;
  made.bw_inter = bw_inter;
  made.type_intra = PathType::kNvl;
  made.type_inter = PathType::kPix;
  return made;
}

/// Returns the communicator of a machine of collnet-by-version.csv.
Communicator reducing(const std::string& name) {
  Communicator comm;
  const auto set = [&](int nodes, int gpus, int compute_capability, bool nvswitch, int channels,
                       int heads) {
    comm.nodes = nodes;
    comm.ranks = nodes * gpus;
    comm.compute_capability = comm.max_compute_capability = compute_capability;
    comm.nvswitch = nvswitch;
    comm.channels = channels;
    comm.collnet_heads = heads;
    comm.collnet = true;
  };
  const auto graphs = [&](const Graph& ring, const Graph& tree, const Graph& chain,
                          const Graph& direct) {
    comm.graphs.ring = ring;
    comm.graphs.tree = tree;
    comm.graphs.collnet_chain = chain;
    comm.graphs.collnet_direct = direct;
  };
  constexpr Pattern kRing = Pattern::kRing, kBalanced = Pattern::kBalancedTree,
                    kTree = Pattern::kTree;
  constexpr Pattern kDirect = Pattern::kCollnetDirect;
  if (name == "dgx1v-n4") {
    set(4, 8, 70, false, 12, 4);
    graphs(graph(kRing, 4, 12, 12), graph(kBalanced, 4, 20, 12), graph(kTree, 4, 20, 10),
           graph(kDirect, 4, 20, 10));
  } else if (name == "dgxa100-n4") {
    set(4, 8, 80, true, 24, 8);
    graphs(graph(kRing, 8, 24, 24), graph(kBalanced, 8, 30, 24), graph(kTree, 8, 30, 24),
           graph(kDirect, 8, 48, 24));
  } else if (name == "dgxa100-n4-4cards") {
    set(4, 8, 80, true, 12, 4);
    graphs(graph(kRing, 4, 24, 24), graph(kBalanced, 4, 48, 24), graph(kTree, 4, 48, 24),
           graph(kDirect, 4, 48, 24));
  } else if (name == "hgxh100-n8-g4") {
    set(8, 4, 90, true, 24, 4);
    graphs(graph(kRing, 8, 24, 24), graph(kTree, 8, 48, 24), graph(kTree, 8, 48, 24),
           graph(kDirect, 4, 48, 48));
    comm.graphs.nvls = graph(Pattern::kNvls, 4, 48, 48);
  } else if (name == "dgxb200-n8") {
    set(8, 8, 100, true, 24, 8);
    graphs(graph(kRing, 8, 48, 48), graph(kTree, 8, 96, 48), graph(kTree, 8, 96, 48),
           graph(kDirect, 8, 96, 48));
    comm.graphs.nvls = graph(Pattern::kNvls, 8, 48, 48);
  } else {
    set(name == "hgxh100-n2" ? 2 : 8, 8, 90, true, 16, 8);
    graphs(graph(kRing, 8, 48, 48), graph(kTree, 8, 48, 48), graph(kTree, 8, 48, 48),
           graph(kDirect, 8, 48, 48));
    comm.graphs.nvls = graph(Pattern::kNvls, 8, 40, 48);
  }
  comm.cpu = name.starts_with("dgxa100") ? HostCpu::kAmd : HostCpu::kIntel;
  comm.nvls = comm.graphs.nvls.channels > 0;
  comm.nvls_channels = comm.nvls ? 16 : 0;
  return comm;
}

/// Returns true if the cost model has an estimate, but the release never chooses it: NVLS other
/// than all-reduces between nodes until 2.27 (src/enqueue.cc), and NVLS between nodes in 2.17.
bool kept_out(const Version& version, const std::string& function, const std::string& algorithm) {
  if (algorithm != "NVLS") return false;
  return version < Version{2, 18, 0} || (function != "AllReduce" && version < Version{2, 27, 3});
}

TEST(NcclVersions, ParametersOfInNetworkReductionMatchEveryRelease) {
  const auto all = of_nccl("collnet-by-version.csv");
  std::set<std::string> versions;
  int compared = 0;
  Settings on;
  on.collnet = true;
  for (const auto& [key, theirs] : all) {
    Communicator comm = reducing(key.first);
    comm.version = parse_version(key.second).value();
    versions.insert(key.second);
    Answers answers = ours(comm, on);
    std::erase_if(answers, [&](const auto& one) {
      const std::string& algorithm = std::get<1>(one.first);
      return algorithm != "CollNetDirect" && algorithm != "CollNetChain" && algorithm != "NVLS";
    });
    for (const auto& [cell, figures] : theirs) {
      if (kept_out(comm.version, std::get<0>(cell), std::get<1>(cell))) continue;
      compared += expect_same(answers, cell, figures, key.first + " " + key.second);
      answers.erase(cell);
    }
    for (const auto& [cell, figures] : answers)
      ADD_FAILURE() << key.first << " " << key.second << " " << std::get<0>(cell) << " "
                    << std::get<1>(cell) << " " << std::get<2>(cell) << " is too many";
  }
  EXPECT_EQ(versions.size(), 25U);
  EXPECT_GT(compared, 2'500);
}

}  // namespace
}  // namespace tutti::core::nccl
