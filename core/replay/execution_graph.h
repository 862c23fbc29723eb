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

/// The task graphs of all ranks of an execution trace (for example, Chakra or GOAL). They replace
/// the task graphs of a workload's training step; each training step executes the whole trace once.
///
/// Each rank has a program (core/plan/program.h). The compute tasks of a program have given
/// durations (TaskCost::kOwnTime). There are three kinds of communicate tasks:
/// - with `pack` ≥ 0, the rank's part in collective `pack` (an index into `collectives`);
/// - with `index` ≥ 0, a send or receive of Rank::messages[index];
/// - with neither, an announcement of a compute task (Rank::announced), which is complete when the
///   compute task starts, so that other tasks can depend on this start.
struct ExecutionGraph {
  struct Communicator {
    std::string name;  ///< name in the trace; empty for the communicator that
                       ///< contains all ranks
    std::vector<std::int64_t>
        ranks;  ///< the communicator's ranks, as ranks of the trace, without duplicates; the index
                ///< in this list is the rank in the communicator

    bool operator==(const Communicator&) const = default;
  };

  /// One execution of a collective.
  struct Collective {
    std::int32_t communicator = 0;
    CollectiveKind kind = CollectiveKind::kAllReduce;
    DataType type = DataType::kFloat32;
    std::int64_t elements = 0;  ///< number of elements in the input or output of a rank, whichever
                                ///< is larger, as in nccl-tests
    std::int32_t root = 0;      ///< rank of the root in the communicator
    std::string name;

    bool operator==(const Collective&) const = default;
  };

  /// A message that a rank sends or receives.
  struct Message {
    bool sends = false;
    std::int64_t peer = 0;   ///< the rank at the other end; -1: a receive from any rank
    std::int64_t tag = 0;    ///< tag of the message; -1: a receive with any tag
    std::int64_t bytes = 0;  ///< size of the message; if a receive states another size than its
                             ///< send, the size of the send is used
    std::int64_t place = 0;  ///< location in the trace: a line number of a GOAL text, or the id of
                             ///< a Chakra node

    bool operator==(const Message&) const = default;
  };

  struct Rank {
    Program program;
    std::vector<std::uint8_t> streams;  ///< for each task: the stream that executes it, if it is a
                                        ///< compute task
    std::int32_t stream_count = 1;
    /// For each task: the fraction of a computation's time in which the number of multiprocessors
    /// limits the speed, in millionths. Empty: the fraction is 1 for all computations.
    std::vector<std::int32_t> compute_bound_ppm;
    std::vector<Message> messages;
    /// The task that executes this rank's part of a collective.
    struct Use {
      std::int32_t collective = 0;
      TaskId task = kNoTask;
    };
    std::vector<Use> uses;
    /// For each compute task: the task that announces its start; kNoTask if its start is not
    /// announced. Empty: no task's start is announced.
    std::vector<TaskId> announced;

    /// Returns the task that executes this rank's part of a collective. REQUIRES: the rank
    /// participates in the collective.
    [[nodiscard]] TaskId task_of(std::int32_t collective) const;
    [[nodiscard]] std::int64_t compute_bound_of(TaskId task) const {
      return compute_bound_ppm.empty() ? 1'000'000 : compute_bound_ppm[task];
    }
    [[nodiscard]] TaskId announcement_of(TaskId task) const {
      return announced.empty() ? kNoTask : announced[task];
    }
  };

  std::string source;  ///< format of the trace for reports, such as "Chakra 1.0.0" or "GOAL"
  std::string file;    ///< path of the trace as in the scenario
  std::vector<Rank> ranks;
  std::vector<Communicator> communicators;
  std::vector<Collective> collectives;
  std::vector<std::string> notes;  ///< notes for the user

  [[nodiscard]] std::int64_t tasks() const;
  [[nodiscard]] std::int64_t sends() const;
};

/// The maximum number of tasks in a trace, summed over all ranks. Each task takes about 100 bytes
/// of memory.
inline constexpr std::int64_t kMaxGraphTasks = 50'000'000;

/// Returns the problems that prevent the trace from running to its end; empty if there are none.
/// The possible problems are: the ranks of a communicator execute different numbers of collectives,
/// or the same collective with different sizes; tasks wait for each other in a cycle, on one rank
/// or across ranks; a message is never received.
/// Cost: as much as one execution of the trace.
std::vector<Problem> problems_of(const ExecutionGraph& graph);

}  // namespace tutti::core
