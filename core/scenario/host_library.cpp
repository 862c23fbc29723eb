#include "core/scenario/host_library.h"

#include <algorithm>

#include "core/framework/registry.h"
#include "core/strategy/algorithm_table.h"

namespace tutti::core {

HostLibrary host_library_of(const Strategy& strategy) {
  if (traits(strategy.algorithm).nccl == NcclPart::kAll) return HostLibrary::kNccl;
  if (!strategy.framework) return HostLibrary::kGrpc;
  const auto& kinds = framework_kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const FrameworkKind& kind) {
    return kind.name == strategy.framework->name();
  });
  return found == kinds.end() ? HostLibrary::kSockets : found->host_library;
}

}  // namespace tutti::core
