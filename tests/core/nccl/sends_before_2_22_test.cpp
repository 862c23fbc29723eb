// Sends and receives of NCCL 2.7 to 2.21. The operations of every channel in every batch, with
// their parts and chunks, are compared with those of the schedulers of these releases
// (tests/reference/nccl/sends-before-2.22.txt).

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/nccl/lowering/p2p_batches.h"
#include "core/nccl/lowering/p2p_portions.h"
#include "tests/core/nccl/communicators.h"
#include "tests/support/clusters.h"

namespace tutti::core::nccl {
namespace {

/// An all-to-all of one release.
class AllToAll {
 public:
  AllToAll(Communicator comm, std::int64_t bytes)
      : version(comm.version), comm_(std::move(comm)), bytes_(bytes), rounds_(comm_) {}

  /// Returns the operations of a rank in the notation of the reference.
  [[nodiscard]] std::vector<std::string> of(Rank rank) const {
    std::vector<int> all(static_cast<std::size_t>(rounds_.rounds()));
    std::iota(all.begin(), all.end(), 0);
    const P2pParts parts = [this](Rank from, Rank to) { return portions(from, to).parts; };
    std::map<std::pair<int, int>, std::vector<std::string>> batches;
    for (const P2pAssignment& one : p2p_batches(rounds_, version, rank, all, parts))
      batches[{one.channel, one.batch}].push_back(text(rank, one));
    std::vector<std::string> lines;
    for (auto& [where, entries] : batches) {
      std::sort(entries.begin(), entries.end());
      lines.push_back(
          fmt::format("{} {} {} {}", rank, where.first, where.second, fmt::join(entries, " ")));
    }
    return lines;
  }

  Version version;

 private:
  [[nodiscard]] P2pPortions portions(Rank from, Rank to) const {
    const int gpus = comm_.ranks_of_node();
    return p2p_portions(comm_, bytes_, from / gpus != to / gpus, from == to);
  }
  [[nodiscard]] std::string text(Rank rank, const P2pAssignment& one) const {
    const Rank peer =
        one.sends ? rounds_.sends_to(rank, one.round) : rounds_.receives_from(rank, one.round);
    const P2pPortions of = portions(rank, peer);
    const P2pPortions::Bounds part = of.bounds(bytes_, one.part);
    const std::int64_t chunk = one.part + 1 == of.parts ? of.last_chunk : of.chunk;
    return fmt::format("{}{}:{}+{}/{}", one.sends ? 'S' : 'R', peer, part.begin,
                       part.end - part.begin, peer == rank ? 0 : chunk);
  }

  Communicator comm_;
  std::int64_t bytes_;
  P2pRounds rounds_;
};

std::vector<AllToAll> read_case(std::istringstream& words) {
  int nodes = 0, gpus = 0, nvlink = 0;
  PointToPoint p2p;
  std::int64_t bytes = 0;
  std::string releases;
  words >> nodes >> gpus >> p2p.channels >> p2p.per_peer >> nvlink >> bytes >> releases;
  p2p.all_nvlink = nvlink == 1;
  std::vector<AllToAll> made;
  std::istringstream all(releases);
  for (std::string release; std::getline(all, release, ',');) {
    Communicator comm = test::hopper(nodes, gpus, *parse_version(release));
    comm.p2p = p2p;
    made.emplace_back(std::move(comm), bytes);
  }
  return made;
}

/// Compares a case with the lines of the reference, rank by rank.
void compare(const std::vector<AllToAll>& of, const std::vector<std::string>& lines,
             const std::string& head) {
  std::map<Rank, std::vector<std::string>> by_rank;
  for (const std::string& line : lines) by_rank[std::stoi(line)].push_back(line);
  for (const auto& [rank, expected] : by_rank) {
    for (const AllToAll& release : of)
      EXPECT_EQ(release.of(rank), expected) << to_string(release.version) << "\n" << head;
  }
}

TEST(SendsBefore2_22, ChannelsMatchNcclsSchedulers) {
  std::ifstream file(test::source_folder() + "/tests/reference/nccl/sends-before-2.22.txt");
  ASSERT_TRUE(file);
  std::vector<AllToAll> now;
  std::vector<std::string> lines;
  std::string head;
  std::size_t releases = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    if (!line.starts_with("sends")) {
      lines.push_back(line);
      continue;
    }
    compare(now, lines, head);
    head = line;
    lines.clear();
    std::istringstream words(line.substr(5));
    now = read_case(words);
    releases += now.size();
  }
  compare(now, lines, head);
  EXPECT_EQ(releases, 9U * 13U);
}

}  // namespace
}  // namespace tutti::core::nccl
