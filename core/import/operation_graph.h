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
/// operation of a rank is a task. For each task, the graph has the kind, the order on the rank, and
/// the tasks of other ranks for which the task waits. Times are in nanoseconds.
class OperationGraph {
 public:
  enum class Kind : std::uint8_t {
    kCompute,  ///< a computation, which takes the time in `Durations`
    kSend,  ///< sends a message, and ends when the message has been transferred; does not wait for
            ///< the receiver
    kReceive,     ///< ends when the message that the task in `partners` sends has arrived
    kCollective,  ///< starts its transfer when all `partners` have started, and ends when the
                  ///< transfer is complete
  };
  struct Task {
    std::int32_t rank = 0;  ///< index into ranks()
    std::int32_t name = 0;  ///< index into names()
    std::int64_t sequence = 0;
    Kind kind = Kind::kCompute;
    std::vector<std::int32_t>
        partners;  ///< indices of tasks: for a receive, the send of its message; for a collective,
                   ///< its tasks on all ranks, including this one
    std::int64_t transfer = 0;   ///< time from the start of the task or of its last partner,
                                 ///< whichever is later, to the end
    std::int64_t gap = 0;        ///< idle time of the rank before the task (a host gap)
    bool with_previous = false;  ///< true if the task starts together with the previous task
  };
  struct Rank {
    std::int64_t rank = 0, dp_rank = 0, stage = 0;
    std::vector<std::int32_t> tasks;  ///< in the order in which the rank starts them
    std::int64_t offset = 0;  ///< time from the start of the step on the first rank to the start of
                              ///< the step on this rank
  };
  /// The durations of all tasks in one step. Only the durations of computations are used.
  using Durations = std::vector<std::int64_t>;
  struct Step {
    std::int64_t number = 0;
    Durations durations;
    std::int64_t time = 0;  ///< time from the start of the first task to the end of the last
  };

  [[nodiscard]] const std::vector<Task>& tasks() const { return tasks_; }
  [[nodiscard]] const std::vector<Rank>& ranks() const { return ranks_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// The steps in which every rank has every task, in ascending order.
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  /// The number of steps from which dependencies, transfers and gaps were inferred: the first half
  /// of steps().
  [[nodiscard]] std::size_t inferred_from() const { return inferred_from_; }
  [[nodiscard]] std::size_t other_steps() const { return other_steps_; }

  /// Returns the time of a step in which computations take `durations`; -1 if tasks wait for each
  /// other in a cycle. If `with_gaps` is false, hosts launch every task without delay. REQUIRES:
  /// one duration per task.
  [[nodiscard]] std::int64_t step_time(const Durations& durations, bool with_gaps = true) const;

  /// Returns `of`, except that each computation for which `which` returns true gets the mean
  /// duration of all computations with the same name, over all ranks and steps.
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

/// Makes the task graph of a job from the operations in the job's log.
///
/// - On a rank, tasks run one after the other, in the order of their median start times.
/// - "…-recv" waits for "…-send" with the same sequence number. Forward messages come from the
///   previous stage, and backward messages from the next.
/// - Ranks of the same stage, or with the same data-parallel rank, are assumed to wait for each
///   other in an operation if the operation begins at different times but ends at the same time on
///   these ranks. If the operation also begins at the same time, ranks of the same stage are
///   assumed to wait for each other only if the operation has the name of a collective.
/// - The transfer time of a message or collective is the median, over the first half of the steps,
///   of the time from the last start to the end. The gap before a task is the median idle time of
///   the rank before the task in the same steps.
///
/// ERRORS: there are fewer than two complete steps; a step is too long; tasks wait for each other
/// in a cycle.
Expected<OperationGraph> operation_graph(const std::vector<LoggedOperation>& operations);

}  // namespace tutti::core
