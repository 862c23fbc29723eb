#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/formats/operation_log.h"

namespace tutti::core {

/// The task graph of a training step of a job whose operations were logged on every rank. Each
/// operation of a rank is a task. The graph has the kind of each task, its predecessor on the rank,
/// and the tasks of other ranks for which it waits. Times are in nanoseconds.
class OperationGraph {
 public:
  enum class Kind : std::uint8_t {
    kCompute,     ///< takes its own time
    kSend,        ///< announces a message; the rank continues
    kReceive,     ///< ends when the message of `partners` has arrived
    kCollective,  ///< ends when all `partners` have started, and the transfer is complete
  };
  struct Task {
    std::int32_t rank = 0;  ///< index into ranks()
    std::int32_t name = 0;  ///< index into names()
    std::int64_t sequence = 0;
    Kind kind = Kind::kCompute;
    std::vector<std::int32_t> partners;  ///< tasks: the send of a receive, or all of a collective
    std::int64_t transfer = 0;           ///< time from the last partner's start to the end
    std::int64_t gap = 0;                ///< idle time of the rank before the task (a host gap)
    bool with_previous = false;  ///< true if the task starts together with the previous task
  };
  struct Rank {
    std::int64_t rank = 0, dp_rank = 0, stage = 0;
    std::vector<std::int32_t> tasks;  ///< in the order in which the rank starts them
    std::int64_t offset = 0;          ///< start of the rank's step, after that of the first rank
  };
  /// The durations of the tasks in one step. Only those of computations are used.
  using Durations = std::vector<std::int64_t>;
  struct Step {
    std::int64_t number = 0;
    Durations durations;
    std::int64_t time = 0;  ///< from the first start to the last end
  };

  [[nodiscard]] const std::vector<Task>& tasks() const { return tasks_; }
  [[nodiscard]] const std::vector<Rank>& ranks() const { return ranks_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// The steps in which every rank has every task, in ascending order.
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  /// The number of steps from which dependencies, transfers and gaps were inferred: the first half.
  [[nodiscard]] std::size_t inferred_from() const { return inferred_from_; }
  [[nodiscard]] std::size_t other_steps() const { return other_steps_; }

  /// Returns the time of a step in which computations take `durations`. REQUIRES: one duration per
  /// task. `with_gaps` is false if hosts launch every task without delay. Cost: O(tasks).
  [[nodiscard]] std::int64_t step_time(const Durations& durations, bool with_gaps = true) const;

  /// Returns the durations in which every computation that `which` selects takes the mean time of
  /// its name over all ranks and steps, and every other computation the time of `of`.
  [[nodiscard]] Durations without_stragglers(const Durations& of,
                                             const std::function<bool(const Task&)>& which) const;

 private:
  friend class OperationGraphMaker;

  std::vector<Task> tasks_;
  std::vector<Rank> ranks_;
  std::vector<std::string> names_;
  std::vector<Step> steps_;
  std::vector<double> mean_of_name_;
  std::size_t inferred_from_ = 0, other_steps_ = 0;
};

/// Collects the operations of a log, and makes the graph of their job.
///
/// - On a rank, tasks run one after the other, in their usual order.
/// - "…-recv" waits for "…-send" with the same sequence number. Forward messages come from the
///   previous stage, and backward messages from the next.
/// - Ranks of the same stage, or with the same data-parallel rank, wait for each other in an
///   operation if its ends coincide although its starts do not. Operations named as collectives
///   whose starts also coincide are collectives of a stage.
/// - The transfer of a message or collective is the median time from the last start to the end, and
///   the gap before a task the median idle time, over the first half of the steps.
///
/// ERRORS: there are fewer than two complete steps; tasks wait for each other in a cycle.
Expected<OperationGraph> operation_graph(const std::vector<LoggedOperation>& operations);

}  // namespace tutti::core
