// Runs of several processes, for the tests of joining and of faults.
#pragma once

#include <deque>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/process.h"

namespace tutti::test {

/// Returns a scenario of machines with one CPU each, which all-reduce a few gradients by a ring.
inline std::string ring_of(int workers, int steps = 2, const std::string& workload = "") {
  return fmt::format(
      "cluster {{ workers {{ machine: \"host\" count: {} }} network {{ kind: ONE_SWITCH "
      "latency_us: 1 }} machine {{ "
      "name: \"host\" device {{ name: \"cpu0\" kind: CPU memory_gb_per_s: 50 }} nic {{ name: "
      "\"nic0\" "
      "bandwidth_gb_per_s: 10 }} link {{ from: \"cpu0\" to: \"nic0\" kind: PCIE "
      "bandwidth_gb_per_s: 10 latency_us: 0 "
      "}} "
      "}} }}\nworkload {{ {} }}\nstrategy {{ algorithm: \"ring\" }}\nrun {{ steps: {} }}\n",
      workers,
      workload.empty() ? "variable { name: \"a\" shape: 1001 } variable { name: \"b\" shape: 7 "
                         "data_type: INT32 }"
                       : workload,
      steps);
}

/// Returns a scenario with long training steps, so that a test can interfere during a step.
inline std::string long_ring_of(int workers, int steps = 3, double forward_ms = 1500) {
  return ring_of(workers, steps,
                 fmt::format("variable {{ name: \"a\" shape: 1000 }} forward_ms: {}", forward_ms));
}

/// A coordinator process that waits for workers on loopback, and worker processes that join it.
class ClusterRun {
 public:
  explicit ClusterRun(const std::string& scenario, const std::vector<std::string>& options = {},
                      const Process::Options& environment = {},
                      const std::string& command = "run") {
    // Let the system choose the port, since a port that was free before may be in use by now.
    std::vector<std::string> words{command, folder_.write("s.textproto", scenario), "--listen",
                                   "127.0.0.1:0"};
    words.insert(words.end(), options.begin(), options.end());
    coordinator_.emplace_back(words, environment);
    const std::string waits = "waiting for workers at ";
    const bool said = coordinator_.front().says("; run on each machine");
    const std::string err = coordinator_.front().err();
    if (!said) throw std::runtime_error("the coordinator does not wait for workers: " + err);
    const std::size_t begin = err.find(waits) + waits.size();
    at_ = err.substr(begin, err.find(';', begin) - begin);
  }

  Process& join(const std::vector<std::string>& options = {}, Process::Options environment = {}) {
    return join_at(at_, options, std::move(environment));
  }
  /// Does the same with another address, such as that of a proxy.
  Process& join_at(const std::string& at, const std::vector<std::string>& options = {},
                   Process::Options environment = {}) {
    // The worker has access neither to the scenario's folder nor to the library.
    environment.environment.try_emplace("TUTTI_DATA", "/nowhere");
    if (environment.folder.empty()) environment.folder = "/";
    std::vector<std::string> words{"worker", "--join", at};
    words.insert(words.end(), options.begin(), options.end());
    return workers_.emplace_back(words, environment);
  }

  /// Waits until all workers have joined. Returns false if the coordinator ended before.
  bool is_on() { return coordinator().says("all workers have joined"); }
  Process& coordinator() { return coordinator_.front(); }
  Process& worker(std::size_t i) { return workers_[i]; }
  [[nodiscard]] std::size_t workers() const { return workers_.size(); }
  [[nodiscard]] const std::string& at() const { return at_; }
  [[nodiscard]] int port() const { return std::stoi(at_.substr(at_.find(':') + 1)); }
  [[nodiscard]] const TemporaryFolder& folder() const { return folder_; }

 private:
  TemporaryFolder folder_;
  std::string at_;
  std::deque<Process> coordinator_;
  std::deque<Process> workers_;
};

/// Expects that the process ends with status 1, and that its error line matches `says`.
inline void expect_failed(Process& process, const testing::Matcher<std::string>& says,
                          const std::string& who) {
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.status, 1) << who;
  std::string lines;
  for (std::istringstream text(outcome.err);
       std::getline(text, lines) && !lines.starts_with("tutti:");) {
  }
  EXPECT_THAT(lines, says) << who << ": " << outcome.err;
}

}  // namespace tutti::test
