#include "core/plan/compute_kind.h"
#include "core/schedule/print.h"
#include "core/timeline/timeline.h"

namespace tutti::core {

std::string span_name(std::int32_t kind) {
  if (kind == SpanKind::kPackInFlight) return "pack in flight";
  if (kind == SpanKind::kExchange) return "exchange in flight";
  if (kind == SpanKind::kChannel) return "NCCL channel";
  if (kind >= SpanKind::kFirstCompute)
    return std::string(to_string(static_cast<ComputeKind>(kind - SpanKind::kFirstCompute)));
  return std::string(to_string(static_cast<StepKind>(kind)));
}

}  // namespace tutti::core
