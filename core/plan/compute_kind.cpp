#include "core/plan/compute_kind.h"

namespace tutti::core {

std::string_view to_string(ComputeKind kind) {
  switch (kind) {
    case ComputeKind::kForward: return "forward";
    case ComputeKind::kBackward: return "backward";
    case ComputeKind::kCopyIn: return "copy into pack";
    case ComputeKind::kCopyOut: return "copy out of pack";
    case ComputeKind::kUpdate: return "update";
    case ComputeKind::kConvert: return "convert to send";
    case ComputeKind::kConvertBack: return "convert back";
    case ComputeKind::kOperation: return "operation";
    case ComputeKind::kHostGap: return "host gap";
  }
  return "";
}

}  // namespace tutti::core
