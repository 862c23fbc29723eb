#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/tools/command_line.h"

namespace tutti::test {

using Variables = std::map<std::string, std::string>;

/// Returns the variables that Open MPI sets for a rank of a job on one machine.
Variables open_mpi(int rank, int size);

/// Runs `tutti run` once per rank with the same command, these variables, and the variables of the
/// rank.
struct Launched {
  std::deque<Process> ranks;
  TemporaryFolder folder;

  Launched(int count, const std::string& scenario, const std::function<Variables(int)>& variables,
           const std::vector<std::string>& options = {}, const std::string& command = "run");

  /// Expects that all ranks end without an error, and that only rank 0 prints a report.
  void expect_done();
};

/// Arguments of `tutti perf` for three sizes, and a pattern of the table's rows. Any row may be
/// followed by a note.
inline const std::vector<std::string> kThreeSizes{"--backend", "tcp", "-b", "4K", "-e",
                                                  "64K",       "-f",  "4",  "-n", "3"};
inline const std::string kThreeRows =
    "\n +4096 .* 0\n(# .*\n)* +16384 .* 0\n(# .*\n)* +65536 .* 0\n# Out";

}  // namespace tutti::test
