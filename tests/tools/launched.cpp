#include "tests/tools/launched.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>

#include "tests/tools/sentences.h"

namespace tutti::test {

Launched::Launched(int count, const std::string& scenario,
                   const std::function<Variables(int)>& variables,
                   const std::vector<std::string>& options, const std::string& command) {
  const std::string file = folder.write("s.textproto", scenario);
  for (int rank = count - 1; rank >= 0; --rank) {  // rank 0 starts last
    Process::Options with{variables(rank)};
    with.environment["TMPDIR"] = folder.path();
    // Only rank 0 has the scenario.
    std::vector<std::string> words{command, rank == 0 ? file : "/nowhere/s.textproto"};
    words.insert(words.end(), options.begin(), options.end());
    ranks.emplace_front(words, with);
  }
}

void Launched::expect_done() {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const Outcome outcome = ranks[rank].wait();
    EXPECT_EQ(outcome.status, 0) << "rank " << rank << ": " << outcome.err;
    if (rank == 0) {
      EXPECT_THAT(outcome.out, says_verified());
    } else {
      EXPECT_EQ(outcome.out, "");
    }
  }
  EXPECT_THAT(folder.files(), testing::ElementsAre("s.textproto")) << "no rendezvous stays behind";
}

Variables open_mpi(int rank, int size) {
  return {{"OMPI_COMM_WORLD_RANK", std::to_string(rank)},
          {"OMPI_COMM_WORLD_SIZE", std::to_string(size)},
          {"OMPI_COMM_WORLD_LOCAL_SIZE", std::to_string(size)},
          {"PMIX_NAMESPACE", "4711"}};
}

}  // namespace tutti::test
