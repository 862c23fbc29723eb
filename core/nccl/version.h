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

/// The default release.
inline constexpr Version kDefaultVersion{2, 28, 9};
/// The oldest release whose choice is modelled: earlier ones have a different cost model.
inline constexpr Version kOldestVersion{2, 6, 4};

/// Accepted are "2.18.3", "2.18" (its last release), NCCL's own number "22902" (2.29.2; "2803" is
/// 2.8.3); text after a "+" or "-" is ignored ("2.22.3+cuda12.6"). ERRORS: anything else, and
/// releases older than kOldestVersion.
Expected<Version> parse_version(std::string_view written);

std::string to_string(Version version);

}  // namespace tutti::core::nccl
