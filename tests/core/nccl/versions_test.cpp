// The cost models of 25 releases, against what those releases' own code answers.

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

/// Latency, bandwidth, and times of four sizes.
using Figures = std::array<double, 6>;
constexpr std::array<std::int64_t, 4> kSizes = {8, 4096, 1 << 20, 1 << 28};

/// By function, algorithm and protocol.
using Answers = std::map<std::tuple<std::string, std::string, std::string>, Figures>;

std::map<std::pair<std::string, std::string>, Answers> of_nccl() {
  const std::string path = test::source_folder() + "/tests/reference/nccl/tuning-by-version.csv";
  const auto text = read_text_file(path);
  EXPECT_TRUE(text);
  Problems problems;
  const CsvTable table = parse_csv(*text, path, problems);
  EXPECT_TRUE(problems.empty());
  std::map<std::pair<std::string, std::string>, Answers> all;
  for (const CsvTable::Row& row : table.rows) {
    const auto& cells = row.cells;
    Figures& figures = all[{cells[0].text, cells[1].text}][{cells[2].text, cells[3].text, cells[4].text}];
    for (std::size_t i = 0; i < figures.size(); ++i) figures[i] = std::stod(cells[5 + i].text);
  }
  return all;
}

Answers ours(const Communicator& comm) {
  Answers answers;
  const Model model = tune(comm, {});
  for (std::size_t f = 0; f < kFunctions; ++f) {
    for (std::size_t size = 0; size < kSizes.size(); ++size) {
      for (const Candidate& one : candidates(comm, model, {static_cast<Function>(f), kSizes[size]})) {
        if (one.off) continue;
        Figures& figures = answers[{std::string(kFunctionNames[f]), std::string(to_string(one.algorithm)),
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

TEST(NcclVersions, LatenciesBandwidthsAndTimesAreThoseOfEveryRelease) {
  const auto all = of_nccl();
  std::set<std::string> versions;
  int compared = 0;
  for (const auto& [key, theirs] : all) {
    Communicator comm = test::communicator_of(test::nccl_case(key.first));
    comm.version = parse_version(key.second).value();
    versions.insert(key.second);
    const Answers answers = ours(comm);
    EXPECT_EQ(answers.size(), theirs.size()) << key.first << " " << key.second;
    for (const auto& [cell, figures] : theirs) {
      const auto& [function, algorithm, protocol] = cell;
      const std::string what = key.first + " " + key.second + " " + function + " " + algorithm + "/" + protocol;
      const auto found = answers.find(cell);
      if (found == answers.end()) {
        ADD_FAILURE() << what << " is missing";
        continue;
      }
      for (std::size_t i = 0; i < figures.size(); ++i)
        EXPECT_NEAR(found->second[i], figures[i], 2e-6 * figures[i]) << what << " figure " << i;
      compared += static_cast<int>(figures.size());
    }
  }
  EXPECT_EQ(versions.size(), 25U);
  EXPECT_GT(compared, 35'000);
}

}  // namespace
}  // namespace tutti::core::nccl
