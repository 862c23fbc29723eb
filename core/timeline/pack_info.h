#pragma once

#include <cstdint>

#include "core/timeline/timeline.h"

namespace tutti::core {

/// Returns the pack with this number. The number may come from a damaged or forged file: if the run
/// has no such pack, returns a pack without gradients. The result is valid as long as `run` exists.
inline const RunInfo::PackInfo& pack_info(const RunInfo& run, std::int32_t pack) {
  static const RunInfo::PackInfo unknown;
  const bool known = pack >= 0 && pack < static_cast<std::int64_t>(run.packs.size());
  return known ? run.packs[static_cast<std::size_t>(pack)] : unknown;
}

}  // namespace tutti::core
