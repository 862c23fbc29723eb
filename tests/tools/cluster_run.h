// Runs of several processes, as the tests of joining and of faults need them.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/support/process.h"

namespace tutti::test {

/// Machines with one CPU each, that reduce a few gradients by a ring.
inline std::string ring_of(int workers, int steps = 2, const std::string& workload = "") {
  return fmt::format(
      "cluster {{ workers {{ machine: \"host\" count: {} }} network {{ kind: ONE_SWITCH latency_us: 1 }} machine {{ "
      "name: \"host\" device {{ name: \"cpu0\" kind: CPU memory_gb_per_s: 50 }} nic {{ name: \"nic0\" "
      "bandwidth_gb_per_s: 10 }} link {{ from: \"cpu0\" to: \"nic0\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 "
      "}} "
      "}} }}\nworkload {{ {} }}\nstrategy {{ algorithm: \"ring\" }}\nrun {{ steps: {} }}\n",
      workers,
      workload.empty() ? "variable { name: \"a\" shape: 1001 } variable { name: \"b\" shape: 7 data_type: INT32 }"
                       : workload,
      steps);
}

/// A step that takes long, so that something can happen in it.
inline std::string long_ring_of(int workers, int steps = 3, double forward_ms = 1500) {
  return ring_of(workers, steps, fmt::format("variable {{ name: \"a\" shape: 1000 }} forward_ms: {}", forward_ms));
}

/// A coordinator that waits for workers on loopback, and workers that join it.
class ClusterRun {
 public:
  explicit ClusterRun(const std::string& scenario, const std::vector<std::string>& options = {},
                      const Process::Options& environment = {}, const std::string& command = "run")
      : at_(fmt::format("127.0.0.1:{}", free_port())) {
    std::vector<std::string> words{command, folder_.write("s.textproto", scenario), "--listen", at_};
    words.insert(words.end(), options.begin(), options.end());
    coordinator_.emplace_back(words, environment);
    coordinator_.front().says("waiting for workers");
  }

  Process& join(const std::vector<std::string>& options = {}, Process::Options environment = {}) {
    // Neither the scenario's folder nor the library is there.
    environment.environment.try_emplace("TUTTI_DATA", "/nowhere");
    if (environment.folder.empty()) environment.folder = "/";
    std::vector<std::string> words{"worker", "--join", at_};
    words.insert(words.end(), options.begin(), options.end());
    return workers_.emplace_back(words, environment);
  }

  /// Waits until all have joined. False if the coordinator ended before.
  bool is_on() { return coordinator().says("all workers are here"); }
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

}  // namespace tutti::test
