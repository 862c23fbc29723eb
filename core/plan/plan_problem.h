#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/plan/program.h"

namespace tutti::core {

/// The kinds of problems in a task graph, or between the task graphs of several ranks. A latch is a
/// condition that one task opens and for which other tasks wait; a block is a range of tasks that
/// runs several times in a row (program.h).
enum class PlanProblemCode : std::uint8_t {
  // Problems that prevent a single program from running to its end:
  kDamaged,                ///< an index is out of range, or a stored count does not match the edges
  kNoEnd,                  ///< the program has no end task
  kCycle,                  ///< tasks wait for each other in a cycle
  kNotAwaited,             ///< there is a task for which the end task does not wait
  kLatchNeverOpened,       ///< a task waits for a latch that no task opens
  kLatchOpenedTwice,       ///< several tasks open the same latch
  kNeverTakesPart,         ///< a task is skipped in every step
  kNumberOutsideBlock,     ///< a communication has a number_stride but is in no block
  kBlockNeverEnds,         ///< a block has fewer than one iteration
  kBlocksOverlap,          ///< a task belongs to two blocks
  kBlockEnteredElsewhere,  ///< an edge from outside a block leads to a task of the block other than
                           ///< the block's entry
  kBlockLeftElsewhere,     ///< an edge out of a block begins at a task that is not the exit of the
                           ///< block
  kOutlastsIteration,      ///< the exit of a block does not wait for one of the block's tasks
  kNotAllowedInBlock,      ///< a task that waits for a latch or opens one, or the end task, is in a
                           ///< block
  // Problems between the programs of several ranks that make a rank wait forever:
  kRankMissing,   ///< a rank never executes a collective that other ranks of its communicator
                  ///< execute
  kCountsDiffer,  ///< two ranks execute the same collective different numbers of times
  kStepsDiffer,   ///< a rank executes a collective in training steps in which another rank skips it
  kOrderDiffers,  ///< ranks issue the collectives of a communicator in different orders
  kDeadlock,      ///< ranks wait for each other in a cycle, across communicators
  // A problem that leads to a deadlock only with certain durations of tasks:
  kOrderUndetermined,  ///< timing decides which of two collectives of a communicator a rank issues
                       ///< first
};
std::string_view to_string(PlanProblemCode code);

/// True if the problem occurs in every run; false if it depends on the durations of tasks.
constexpr bool is_certain(PlanProblemCode code) {
  return code != PlanProblemCode::kOrderUndetermined;
}

/// A problem of a plan.
struct PlanProblem {
  PlanProblemCode code;
  TaskId task = kNoTask;    ///< task at which the problem occurs; kNoTask: the problem has no
                            ///< particular task
  std::int32_t role = -1;   ///< index into PlanView::roles; -1: the problem was found in a single
                            ///< program
  std::int32_t pack = -1;   ///< Task::pack of this task
  std::int32_t index = -1;  ///< Task::index of this task
  std::string text;         ///< a sentence without a full stop, which names tasks by their labels
};

/// Returns the name of a task in problems and drawings: "backward of segment 3", "collective of
/// pack 5", "exchange 2".
std::string label_of(const Task& task);

}  // namespace tutti::core
