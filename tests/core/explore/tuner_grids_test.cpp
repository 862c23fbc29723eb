// Runs the tuner on 12 grids of which every point is known (tests/reference/grids,
// tools/tuner_grids.sh), and checks how close it gets to the optimum when it evaluates one point in
// twenty. tools/tuner_table.sh prints the results.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include <fmt/format.h>

#include "core/explore/tuner.h"
#include "tests/support/clusters.h"

namespace tutti::core {
namespace {

struct Grid {
  std::string name;
  std::vector<Axis> axes;
  std::vector<std::optional<double>> ns;  ///< by point
};

Grid read(const std::filesystem::path& path) {
  Grid grid;
  grid.name = path.stem().string();
  std::ifstream file(path);
  const std::string over = "# over: ";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(over))
      grid.axes.push_back(*parse_axis("--over", line.substr(over.size())));
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    for (std::string word; words >> word;)
      grid.ns.push_back(word == "-" ? std::nullopt : std::optional(std::stod(word)));
  }
  return grid;
}

std::vector<Grid> grids() {
  std::vector<Grid> all;
  for (const auto& entry :
       std::filesystem::directory_iterator(test::source_folder() + "/tests/reference/grids")) {
    if (entry.path().extension() == ".txt") all.push_back(read(entry.path()));
  }
  std::sort(all.begin(), all.end(), [](const Grid& a, const Grid& b) { return a.name < b.name; });
  return all;
}

TEST(TunerGrids, ComesWithinOnePercentOfTheBestByEvaluatingOnePointInTwenty) {
  const bool table = std::getenv("TUTTI_TABLE") != nullptr;
  const std::size_t seeds = table ? 10 : 1;
  const std::vector<Grid> all = grids();
  EXPECT_EQ(all.size(), 12u);
  if (table) {
    std::cout << "| grid | points | best | evaluations, median (most) | above the best, median "
                 "(worst) | random "
                 "search, median (worst) |\n"
                 "|---|---:|---:|---:|---:|---:|\n";
  }
  for (const Grid& grid : all) {
    const auto space = Space::of(grid.axes);
    ASSERT_TRUE(space) << grid.name;
    ASSERT_EQ(std::ssize(grid.ns), space->size()) << grid.name;
    EXPECT_GE(space->size(), 2000);
    double best = 1e300;
    for (const auto& ns : grid.ns) best = std::min(best, ns.value_or(best));
    const std::int64_t allowed = space->size() / 20;
    std::vector<double> above, by_chance;
    std::vector<std::int64_t> evaluations;
    for (std::size_t seed = 0; seed < seeds; ++seed) {
      Tuner tuner(*space, {allowed, static_cast<std::uint64_t>(seed)});
      for (auto points = tuner.next(); !points.empty(); points = tuner.next()) {
        for (const std::int64_t point : points) tuner.tell(point, grid.ns[point]);
      }
      ASSERT_TRUE(tuner.best());
      above.push_back(*grid.ns[*tuner.best()] / best - 1);
      evaluations.push_back(tuner.evaluated());
      EXPECT_LE(above.back(), 0.01) << grid.name << ", seed " << seed;
      EXPECT_LE(tuner.evaluated(), allowed);
      Random random(static_cast<std::uint64_t>(seed));
      double chance = 1e300;
      for (std::int64_t i = 0; i < tuner.evaluated(); ++i) {
        const auto point = random.below(static_cast<std::uint64_t>(space->size()));
        chance = std::min(chance, grid.ns[point].value_or(1e300));
      }
      by_chance.push_back(chance / best - 1);
    }
    std::sort(above.begin(), above.end());
    std::sort(by_chance.begin(), by_chance.end());
    std::sort(evaluations.begin(), evaluations.end());
    if (table) {
      std::cout << fmt::format(
          "| {} | {} | {:.2f} ms | {} ({}) | {:.2f} % ({:.2f} %) | {:.2f} % ({:.2f} %) |\n",
          grid.name, space->size(), best / 1e6, evaluations[seeds / 2], evaluations.back(),
          100 * above[seeds / 2], 100 * above.back(), 100 * by_chance[seeds / 2],
          100 * by_chance.back());
    }
  }
}

}  // namespace
}  // namespace tutti::core
