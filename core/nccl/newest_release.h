#pragma once

#include <string>

#include <fmt/format.h>

#include "core/nccl/version.h"

namespace tutti::core::nccl {

/// Later releases are taken to do as the last one of this.
inline constexpr int kNewestMajor = 2, kNewestMinor = 30;

/// The release, with a word if it is newer than all that are known.
inline std::string describe(Version version) {
  const bool known = version.major < kNewestMajor ||
                     (version.major == kNewestMajor && version.minor <= kNewestMinor);
  if (known) return to_string(version);
  return fmt::format("{} (modelled as {}.{}, the newest known release)", to_string(version),
                     kNewestMajor, kNewestMinor);
}

}  // namespace tutti::core::nccl
