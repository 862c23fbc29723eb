#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/plan/program.h"

namespace tutti::core {

/// The kinds of problems in a task graph, or between the task graphs of several ranks.
enum class PlanProblemCode : std::uint8_t {
  // Problems of one program: it cannot be run, or not to its end.
  kDamaged,             ///< an index is out of range, or counts contradict the edges
  kNoEnd,               ///< there is no end task
  kCycle,               ///< tasks wait for each other
  kNotAwaited,          ///< the end of the step does not wait for a task
  kHoldNeverOpened,     ///< a task waits for a hold that no task opens
  kHoldOpenedTwice,     ///< several tasks open the same hold
  kNeverTakesPart,      ///< the task is skipped in every step
  kNumberOutsideBlock,  ///< a communication is numbered by iterations but is in no block
  kBlockNeverEnds,      ///< a block has less than one iteration
  kBlocksOverlap,       ///< a task belongs to two blocks
  kBlockEnteredBeside,  ///< an edge leads into a block, but not to its entry
  kBlockLeftBeside,     ///< an edge leads out of a block, but not from its exit
  kOutlastsIteration,   ///< the exit of a block does not wait for one of its tasks
  kNotAllowedInBlock,   ///< a held task, a task that opens a hold, or the end is in a block
  // Problems between the programs of several ranks: one of them waits for another forever.
  kRankMissing,   ///< a rank of a communicator never takes part in a collective of the other ranks
  kCountsDiffer,  ///< ranks take part in a collective a different number of times
  kStepsDiffer,   ///< a rank waits for a collective in steps in which another skips it
  kOrderDiffers,  ///< ranks issue the collectives of a communicator in different orders
  kDeadlock,      ///< ranks wait for each other in a cycle, across communicators
  // A deadlock that depends on timing.
  kOrderUndetermined,  ///< no edges determine the order in which a rank issues two collectives of a
                       ///< communicator
};
std::string_view to_string(PlanProblemCode code);

/// False if the problem occurs only with some timings.
constexpr bool is_certain(PlanProblemCode code) {
  return code != PlanProblemCode::kOrderUndetermined;
}

/// A mistake in a plan, at a task.
struct PlanProblem {
  PlanProblemCode code;
  TaskId task = kNoTask;    ///< kNoTask: the problem does not concern a single task
  std::int32_t role = -1;   ///< index in PlanView::roles; -1: from problems_of(Program)
  std::int32_t pack = -1;   ///< label of the task
  std::int32_t index = -1;  ///< label of the task
  std::string text;         ///< one sentence without a full stop; names tasks by their labels
};

/// Returns the name of a task in problems and drawings: "backward of segment 3", "collective of
/// pack 5", "exchange 2".
std::string label_of(const Task& task);

}  // namespace tutti::core
