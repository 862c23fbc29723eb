#include "core/timeline/breakdown.h"

#include <fmt/format.h>

namespace tutti::core {

std::vector<std::pair<std::string, Time>> named_parts(const Breakdown& parts) {
  std::vector<std::pair<std::string, Time>> named{
      {"launching the collective", parts.launch},
      {"link latency", parts.latency},
      {"waiting for a busy link or copy engine or for a free slot", parts.queue},
      {"reductions", parts.reduce},
      {"copies in memory", parts.copy},
      {"host transport", parts.host}};
  for (std::size_t k = 0; k < kLinkKinds; ++k) {
    named.emplace_back(fmt::format("transfer over {} links", to_string(static_cast<LinkKind>(k))),
                       parts.wire[k]);
  }
  return named;
}

}  // namespace tutti::core
