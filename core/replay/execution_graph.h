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

/// The task graphs of all ranks of an execution trace (Chakra, GOAL), which are executed in place
/// of a workload's training step. A step executes the whole trace once.
///
/// Each rank has a program (core/plan/program.h), whose compute tasks have their own durations
/// (TaskCost::kOwnTime). There are three kinds of communicate tasks:
/// - with `pack` ≥ 0, the rank's part in collective `pack`;
/// - with `index` ≥ 0, a send or receive of Rank::messages[index];
/// - with neither, an announcement of a compute task (Rank::announced), which is complete when the
///   compute task starts, so that other tasks can depend on this start.
struct ExecutionGraph {
  struct Communicator {
    std::string name;                 ///< name in the trace; empty for the communicator of all
                                      ///< ranks
    std::vector<std::int64_t> ranks;  ///< ranks of the trace by rank in the communicator, without
                                      ///< duplicates

    bool operator==(const Communicator&) const = default;
  };

  /// One execution of a collective.
  struct Collective {
    std::int32_t communicator = 0;
    CollectiveKind kind = CollectiveKind::kAllReduce;
    DataType type = DataType::kFloat32;
    std::int64_t elements = 0;  ///< elements in the larger of a rank's input and output, as in
                                ///< nccl-tests
    std::int32_t root = 0;      ///< rank of the root in the communicator
    std::string name;

    bool operator==(const Collective&) const = default;
  };

  /// A send or receive of a message by one rank.
  struct Message {
    bool sends = false;
    std::int64_t peer = 0;   ///< the other rank; -1: a receive from any rank
    std::int64_t tag = 0;    ///< -1: a receive with any tag
    std::int64_t bytes = 0;  ///< size of the message; the send determines it
    std::int64_t place = 0;  ///< location in the trace: the line of a GOAL text, or the id of a
                             ///< Chakra node

    bool operator==(const Message&) const = default;
  };

  struct Rank {
    Program program;
    std::vector<std::uint8_t> streams;  ///< by task: the stream of a compute task
    std::int32_t stream_count = 1;
    /// By task: the share of a computation that is limited by multiprocessors, in millionths.
    /// Empty: computations are limited by multiprocessors only.
    std::vector<std::int32_t> compute_bound_ppm;
    std::vector<Message> messages;
    /// The task that executes the rank's part in a collective.
    struct Use {
      std::int32_t collective = 0;
      TaskId task = kNoTask;
    };
    std::vector<Use> uses;
    /// By compute task: the task that announces its start; kNoTask: its start is not announced.
    /// Empty: no start is announced.
    std::vector<TaskId> announced;

    /// Returns the task of a collective. REQUIRES: the rank takes part in the collective.
    [[nodiscard]] TaskId task_of(std::int32_t collective) const;
    [[nodiscard]] std::int64_t compute_bound_of(TaskId task) const {
      return compute_bound_ppm.empty() ? 1'000'000 : compute_bound_ppm[task];
    }
    [[nodiscard]] TaskId announcement_of(TaskId task) const {
      return announced.empty() ? kNoTask : announced[task];
    }
  };

  std::string source;  ///< format of the trace, for reports: "Chakra 1.0.0", "GOAL"
  std::string file;    ///< the trace file that the scenario names
  std::vector<Rank> ranks;
  std::vector<Communicator> communicators;
  std::vector<Collective> collectives;
  std::vector<std::string> notes;  ///< notes for the user

  [[nodiscard]] std::int64_t tasks() const;
  [[nodiscard]] std::int64_t sends() const;
};

/// The maximum number of tasks of a trace, over all ranks. A task takes about 100 bytes of memory.
inline constexpr std::int64_t kMaxGraphTasks = 50'000'000;

/// Returns the problems that prevent the trace from running to its end; empty if there are none.
/// The problems are: ranks execute a collective a different number of times or with different
/// sizes; tasks wait for each other in a cycle, on one rank or across ranks; a message is never
/// received. Cost: the cost of executing the trace once.
std::vector<Problem> problems_of(const ExecutionGraph& graph);

}  // namespace tutti::core
