#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace tutti::core::nccl {

/// A release of NCCL.
struct Version {
  int major = 2;
  int minor = 28;
  int patch = 9;

  auto operator<=>(const Version&) const = default;
};

/// The release that is meant where nobody says.
inline constexpr Version kDefaultVersion{2, 28, 9};
/// The oldest whose choice is modelled: before it there was no cost model with today's parts.
inline constexpr Version kOldestVersion{2, 6, 4};

/// "2.18.3", "2.18" (its last release), NCCL's own number "22902" (2.29.2) and "2.8.3" likewise;
/// what stands behind a "+" or "-" is passed over ("2.22.3+cuda12.6"). ERRORS: anything else, and
/// releases older than kOldestVersion.
Expected<Version> parse_version(std::string_view written);

std::string to_string(Version version);

}  // namespace tutti::core::nccl
