#pragma once

#include <string>

#include <fmt/format.h>

#include "core/nccl/version.h"

namespace tutti::core::nccl {

/// The newest version of NCCL (major.minor) that the model reproduces. Later versions of NCCL are
/// modelled like the last release of this version.
inline constexpr int kNewestMajor = 2, kNewestMinor = 30;

/// Returns the release as text, with a remark if its version is newer than the newest version that
/// the model reproduces.
inline std::string describe(Version version) {
  const bool known = version.major < kNewestMajor ||
                     (version.major == kNewestMajor && version.minor <= kNewestMinor);
  if (known) return to_string(version);
  return fmt::format("{} (modelled as {}.{}, the newest known release)", to_string(version),
                     kNewestMajor, kNewestMinor);
}

}  // namespace tutti::core::nccl
