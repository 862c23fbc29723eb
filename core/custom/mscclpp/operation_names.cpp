#include "core/custom/mscclpp/operation_names.h"

#include <algorithm>
#include <array>

namespace tutti::core::custom {
namespace {

constexpr std::array kPlanNames{
    PlanName{"nop", PlanVerb::kNop, Operands::kNone, false, false, false},
    PlanName{"barrier", PlanVerb::kBarrier, Operands::kNone, false, false, false},
    PlanName{"signal", PlanVerb::kSignal, Operands::kNone, false, false, false},
    PlanName{"rlxsignal", PlanVerb::kSignal, Operands::kNone, false, false, false},
    PlanName{"wait", PlanVerb::kWait, Operands::kNone, false, false, false},
    PlanName{"rlxwait", PlanVerb::kWait, Operands::kNone, false, false, false},
    PlanName{"flush", PlanVerb::kFlush, Operands::kNone, false, false, false},
    PlanName{"put", PlanVerb::kPut, Operands::kPut, false, false, true},
    PlanName{"pws", PlanVerb::kPut, Operands::kPut, false, false, true},
    PlanName{"pwsf", PlanVerb::kPut, Operands::kPut, false, false, true},
    PlanName{"ppkt", PlanVerb::kPut, Operands::kPut, false, true, true},
    PlanName{"rppkt", PlanVerb::kPut, Operands::kReadPut, true, true, true},
    PlanName{"get", PlanVerb::kGet, Operands::kGet, false, false, false},
    PlanName{"copy", PlanVerb::kCopy, Operands::kLocal, false, false, false},
    PlanName{"cpkt", PlanVerb::kCopy, Operands::kLocal, false, true, false},
    PlanName{"upkt", PlanVerb::kCopy, Operands::kLocal, true, false, false},
    PlanName{"re", PlanVerb::kReduce, Operands::kReduce, false, false, false},
    PlanName{"res", PlanVerb::kReduce, Operands::kReduce, false, false, true},
    PlanName{"rre", PlanVerb::kReduce, Operands::kReadReduce, false, false, false},
    PlanName{"rres", PlanVerb::kReduce, Operands::kReadReduce, false, false, true},
    PlanName{"repkt", PlanVerb::kReduce, Operands::kReduce, true, false, false},
    PlanName{"respkt", PlanVerb::kReduce, Operands::kReduce, true, true, true},
    PlanName{"recpkt", PlanVerb::kReduce, Operands::kReduceKeep, true, true, false},
    PlanName{"recspkt", PlanVerb::kReduce, Operands::kReduceKeep, true, true, true},
    PlanName{"glres", PlanVerb::kReduceStore, Operands::kReduceStore, false, false, false},
    PlanName{"gstore", PlanVerb::kStore, Operands::kStore, false, false, false},
    PlanName{"gstorepkt", PlanVerb::kStore, Operands::kStore, true, true, false},
    PlanName{"sem_acquire", PlanVerb::kAcquire, Operands::kNone, false, false, false},
    PlanName{"sem_release", PlanVerb::kRelease, Operands::kNone, false, false, false},
    PlanName{"pipeline", PlanVerb::kPipeline, Operands::kNone, false, false, false}};

}  // namespace

const PlanName* plan_operation(std::string_view name) {
  const auto found =
      std::find_if(kPlanNames.begin(), kPlanNames.end(), [&](auto& n) { return name == n.name; });
  return found == kPlanNames.end() ? nullptr : &*found;
}

}  // namespace tutti::core::custom
