#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/units.h"

namespace tutti::core {

/// Statistics of the staleness of gradients in asynchronous training. A gradient is computed from a
/// version of its variable that the worker has read. The staleness of a gradient is the number of
/// updates of the variable by other workers between the worker's read and the update with this
/// gradient.
struct UpdatesBehind {
  std::int64_t updates = 0;
  std::int64_t sum = 0;
  std::int64_t most = 0;

  void count(std::int64_t behind);
  void add(const UpdatesBehind& others);
  [[nodiscard]] double mean() const {
    return updates == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(updates);
  }
};

/// Computes the staleness of gradients from the reads and updates of variables. The class stores
/// the current version number of each variable, and the version that each worker read last. Every
/// update increments a variable's version number.
class Versions {
 public:
  Versions() = default;
  Versions(std::int64_t workers, std::size_t variables)
      : versions_(variables), read_(workers, std::vector<std::int64_t>(variables)) {}

  [[nodiscard]] bool any() const { return !read_.empty(); }
  /// Records that the worker reads the current version of the variable.
  void read(std::int64_t worker, int variable) { of(worker, variable) = versions_[variable]; }
  /// Records that the server applies the worker's gradient to the variable.
  void applied(std::int64_t worker, int variable) {
    behind_.count(versions_[variable]++ - of(worker, variable));
  }
  [[nodiscard]] const UpdatesBehind& behind() const { return behind_; }

 private:
  std::int64_t& of(std::int64_t worker, int variable) { return read_[worker][variable]; }

  std::vector<std::int64_t> versions_;  ///< for each variable: its current version number
  /// For each worker and variable: the version that the worker read last.
  std::vector<std::vector<std::int64_t>> read_;
  UpdatesBehind behind_;
};

/// Measures how many steps per second the asynchronous workers complete together, until the first
/// worker has finished all its steps. The time after the first worker has finished is excluded,
/// because the remaining workers can then use the finished worker's share of servers and links.
class AsyncServersList {
 public:
  AsyncServersList() = default;
  explicit AsyncServersList(std::int64_t workers) : steps_(workers) {}

  /// Records that the worker completed training step `step` (counted from 0) at time `now`. `of` is
  /// the worker's total number of steps. Calls must be in order of time.
  void step_ended(std::int64_t worker, std::int32_t step, std::int32_t of, Time now);
  /// Ends the measurement, even if no worker has finished.
  void close() { through_ = true; }
  [[nodiscard]] double steps_per_second() const;
  /// Returns a sentence: "asynchronous workers: …". `until_steady`: true if the measurement ended
  /// when the steady state was reached, before a worker finished.
  [[nodiscard]] std::string describe(const UpdatesBehind& behind, bool until_steady = false) const;

 private:
  std::vector<std::int32_t> steps_;  ///< for each worker: number of completed steps
  Time until_;
  bool through_ = false;
};

}  // namespace tutti::core
