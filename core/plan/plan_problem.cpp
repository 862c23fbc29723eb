#include "core/plan/plan_problem.h"

#include <fmt/format.h>

namespace tutti::core {

std::string_view to_string(PlanProblemCode code) {
  switch (code) {
    case PlanProblemCode::kDamaged: return "damaged program";
    case PlanProblemCode::kNoEnd: return "no end task";
    case PlanProblemCode::kCycle: return "cycle";
    case PlanProblemCode::kNotAwaited: return "task is not awaited";
    case PlanProblemCode::kLatchNeverOpened: return "latch is never opened";
    case PlanProblemCode::kLatchOpenedTwice: return "latch is opened twice";
    case PlanProblemCode::kNeverTakesPart: return "task never takes part";
    case PlanProblemCode::kNumberOutsideBlock: return "numbered by iterations outside a block";
    case PlanProblemCode::kBlockNeverEnds: return "block never ends";
    case PlanProblemCode::kBlocksOverlap: return "blocks overlap";
    case PlanProblemCode::kBlockEnteredElsewhere: return "block has two entries";
    case PlanProblemCode::kBlockLeftElsewhere: return "block has two exits";
    case PlanProblemCode::kOutlastsIteration: return "task outlasts its iteration";
    case PlanProblemCode::kNotAllowedInBlock: return "not allowed in a block";
    case PlanProblemCode::kRankMissing: return "rank is missing";
    case PlanProblemCode::kCountsDiffer: return "counts differ";
    case PlanProblemCode::kStepsDiffer: return "steps differ";
    case PlanProblemCode::kOrderDiffers: return "order differs";
    case PlanProblemCode::kDeadlock: return "deadlock";
    case PlanProblemCode::kOrderUndetermined: return "order is not determined";
  }
  return "";
}

std::string label_of(const Task& task) {
  switch (task.kind) {
    case Task::Kind::kCommunicate:
      if (task.pack >= 0) return fmt::format("collective of pack {}", task.pack);
      return task.index >= 0 ? fmt::format("exchange {}", task.index) : "collective";
    case Task::Kind::kCompute: {
      std::string text(to_string(task.compute));
      if (task.pack >= 0) text += fmt::format(" of pack {}", task.pack);
      if (task.index >= 0) text += fmt::format(" of segment {}", task.index);
      return text;
    }
    case Task::Kind::kMark: break;
  }
  if (task.pack >= 0)
    return fmt::format("{} of pack {}", task.latch >= 0 ? "unpacking" : "readiness", task.pack);
  return task.latch >= 0 ? "waiting mark" : "mark";
}

}  // namespace tutti::core
