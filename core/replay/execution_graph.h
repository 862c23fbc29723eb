#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/data_type.h"
#include "core/base/error.h"
#include "core/plan/program.h"
#include "core/schedule/contract.h"

namespace tutti::core {

/// The task graphs of all ranks of an execution trace (Chakra, GOAL): what is executed in place of
/// a workload's training step. A step runs the whole trace once.
///
/// Each rank has a program (core/plan/program.h). Its compute tasks have durations of their own
/// (TaskCost::kOwnTime). A communicate task is one of these:
/// - with `pack` ≥ 0 the rank takes part in the collective of that number;
/// - with `index` ≥ 0 it sends or receives Rank::messages[index];
/// - with neither, it is complete when the compute task that it announces starts
///   (Rank::announced). Other tasks can so depend on the start of a task.
struct ExecutionGraph {
  struct Communicator {
    std::string name;                 ///< name in the trace; "" for all ranks
    std::vector<std::int64_t> ranks;  ///< distinct ranks, in the order of their places

    bool operator==(const Communicator&) const = default;
  };

  /// One execution of a collective.
  struct Collective {
    std::int32_t communicator = 0;
    CollectiveKind kind = CollectiveKind::kAllReduce;
    DataType type = DataType::kFloat32;
    std::int64_t elements = 0;  ///< elements in the larger of a rank's input and output, as in
                                ///< nccl-tests
    std::int32_t root = 0;      ///< the root's place in the communicator
    std::string name;

    bool operator==(const Collective&) const = default;
  };

  /// A message as one of its ranks sees it.
  struct Message {
    bool sends = false;
    std::int64_t peer = 0;   ///< -1: received from any rank
    std::int64_t tag = 0;    ///< -1: received with any tag
    std::int64_t bytes = 0;  ///< message size; that of the send applies
    std::int64_t place = 0;  ///< location in the trace: a line of GOAL's text, or the id of
                             ///< Chakra's node

    bool operator==(const Message&) const = default;
  };

  struct Rank {
    Program program;
    std::vector<std::uint8_t> streams;  ///< by task: the stream of a compute task
    std::int32_t stream_count = 1;
    /// By task: the share of a computation that multiprocessors limit, in millionths; empty: all.
    std::vector<std::int32_t> compute_bound_ppm;
    std::vector<Message> messages;
    /// The rank's tasks of collectives, in ascending order of collectives.
    struct Use {
      std::int32_t collective = 0;
      TaskId task = kNoTask;
    };
    std::vector<Use> uses;
    /// By compute task: the task that announces its start; empty: no task has one.
    std::vector<TaskId> announced;

    /// Returns the task of a collective. REQUIRES: the rank takes part in it.
    [[nodiscard]] TaskId task_of(std::int32_t collective) const;
    [[nodiscard]] std::int64_t compute_bound_of(TaskId task) const {
      return compute_bound_ppm.empty() ? 1'000'000
                                       : compute_bound_ppm[static_cast<std::size_t>(task)];
    }
    [[nodiscard]] TaskId announcement_of(TaskId task) const {
      return announced.empty() ? kNoTask : announced[static_cast<std::size_t>(task)];
    }
  };

  std::string source;  ///< for reports, for example "Chakra 1.0.0" or "GOAL"
  std::string file;    ///< the trace file that the scenario names
  std::vector<Rank> ranks;
  std::vector<Communicator> communicators;
  std::vector<Collective> collectives;
  std::vector<std::string> notes;  ///< remarks for those who read the results

  [[nodiscard]] std::int64_t tasks() const;
  [[nodiscard]] std::int64_t sends() const;
};

/// The most tasks of a trace over all ranks; they are held in memory, about 100 bytes each.
inline constexpr std::int64_t kMaxGraphTasks = 50'000'000;

/// Returns an error that names everything that prevents the trace from running to its end: ranks
/// that take part in a collective a different number of times, or with other sizes; tasks that wait
/// for each other, on one rank or across ranks; messages that no rank receives. Empty if the
/// trace can run to its end. Cost: that of executing the trace with zero durations.
std::vector<Problem> problems_of(const ExecutionGraph& graph);

}  // namespace tutti::core
