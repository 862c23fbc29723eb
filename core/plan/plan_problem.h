#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/plan/program.h"

namespace tutti::core {

/// The kinds of problems in a task graph, or between the task graphs of several ranks.
enum class PlanProblemCode : std::uint8_t {
  // Problems of one program, because of which it cannot run to its end:
  kDamaged,                ///< an index is out of range, or a count contradicts the edges
  kNoEnd,                  ///< there is no end task
  kCycle,                  ///< tasks wait for each other in a cycle
  kNotAwaited,             ///< there is a task for which the end of the step does not wait
  kHoldNeverOpened,        ///< a task waits for a hold that no task opens
  kHoldOpenedTwice,        ///< several tasks open the same hold
  kNeverTakesPart,         ///< a task is skipped in every step
  kNumberOutsideBlock,     ///< a communication has a number_stride but is in no block
  kBlockNeverEnds,         ///< a block has fewer than one iteration
  kBlocksOverlap,          ///< a task belongs to two blocks
  kBlockEnteredElsewhere,  ///< an edge from outside a block leads to a task of the block that is
                           ///< not
                           ///< its entry
  kBlockLeftElsewhere,     ///< an edge out of a block begins at a task that is not the exit of the
                           ///< block
  kOutlastsIteration,      ///< the exit of a block does not wait for one of its tasks
  kNotAllowedInBlock,      ///< a held task, a task that opens a hold, or the end task is in a block
  // Problems between the programs of several ranks, because of which a rank waits forever:
  kRankMissing,   ///< a rank of a communicator never executes a collective of the other ranks
  kCountsDiffer,  ///< two ranks execute a collective a different number of times
  kStepsDiffer,   ///< a rank executes a collective in steps in which another rank skips it
  kOrderDiffers,  ///< ranks issue the collectives of a communicator in different orders
  kDeadlock,      ///< ranks wait for each other in a cycle, across communicators
  // A problem that leads to a deadlock only with some timings:
  kOrderUndetermined,  ///< the edges do not determine the order in which a rank issues two
                       ///< collectives of a communicator
};
std::string_view to_string(PlanProblemCode code);

/// True if the problem occurs with every timing.
constexpr bool is_certain(PlanProblemCode code) {
  return code != PlanProblemCode::kOrderUndetermined;
}

/// A problem of a plan.
struct PlanProblem {
  PlanProblemCode code;
  TaskId task = kNoTask;    ///< task at which the problem occurs; kNoTask: the problem has no
                            ///< particular task
  std::int32_t role = -1;   ///< index into PlanView::roles; -1: the problem is from
                            ///< problems_of(Program)
  std::int32_t pack = -1;   ///< label of the task
  std::int32_t index = -1;  ///< label of the task
  std::string text;         ///< a sentence without a full stop, which names tasks by their labels
};

/// Returns the name of a task in problems and drawings: "backward of segment 3", "collective of
/// pack 5", "exchange 2".
std::string label_of(const Task& task);

}  // namespace tutti::core
