#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/units.h"

namespace tutti::core {

/// Statistics of staleness in asynchronous training: how many updates by other workers a variable
/// received between the read that a gradient was computed from and the update with that gradient.
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

/// The version of each variable, which every update increments, and the version that each worker
/// has read. A gradient's staleness is the number of updates between the read that its worker
/// computed it from and its own update: 0 if there were none by other workers.
class Versions {
 public:
  Versions() = default;
  Versions(std::int64_t workers, std::size_t variables)
      : versions_(variables),
        read_(static_cast<std::size_t>(workers), std::vector<std::int64_t>(variables)) {}

  [[nodiscard]] bool any() const { return !read_.empty(); }
  /// Records that the worker reads the current version of the variable.
  void read(std::int64_t worker, int variable) {
    of(worker, variable) = versions_[static_cast<std::size_t>(variable)];
  }
  /// Records that the worker's gradient is applied.
  void applied(std::int64_t worker, int variable) {
    behind_.count(versions_[static_cast<std::size_t>(variable)]++ - of(worker, variable));
  }
  [[nodiscard]] const UpdatesBehind& behind() const { return behind_; }

 private:
  std::int64_t& of(std::int64_t worker, int variable) {
    return read_[static_cast<std::size_t>(worker)][static_cast<std::size_t>(variable)];
  }

  std::vector<std::int64_t> versions_;           ///< by variable: number of its current version
  std::vector<std::vector<std::int64_t>> read_;  ///< by worker and variable: the version that it
                                                 ///< read
  UpdatesBehind behind_;
};

/// The combined throughput of asynchronous workers. Time after the first worker has finished is
/// excluded, since its share of servers and links is then free.
class AsyncServersList {
 public:
  AsyncServersList() = default;
  explicit AsyncServersList(std::int64_t workers) : steps_(static_cast<std::size_t>(workers)) {}

  /// Records that the worker has ended step `step` of `of`. Calls come in order of time.
  void step_ended(std::int64_t worker, std::int32_t step, std::int32_t of, Time now);
  /// The run is measured up to here, whether or not one of them is through.
  void close() { through_ = true; }
  [[nodiscard]] double steps_per_second() const;
  /// "workers do not wait for each other: …". `until_steady`: they were closed when they were in a
  /// steady state, not when one was through.
  [[nodiscard]] std::string describe(const UpdatesBehind& behind, bool until_steady = false) const;

 private:
  std::vector<std::int32_t> steps_;  ///< by worker: its current step
  Time until_;
  bool through_ = false;
};

}  // namespace tutti::core
