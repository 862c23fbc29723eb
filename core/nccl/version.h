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
/// The oldest modelled release. Earlier releases have a different cost model and are not modelled.
inline constexpr Version kOldestVersion{2, 6, 4};

/// Parses a release. Three forms are accepted: a release ("2.18.3"); a version ("2.18"), which
/// stands for its last release; and NCCL's version number ("22902" for 2.29.2, "2803" for 2.8.3).
/// Text after a "+" or "-" is ignored ("2.22.3+cuda12.6"). ERRORS: the text has none of these
/// forms; the release is older than kOldestVersion.
Expected<Version> parse_version(std::string_view written);

std::string to_string(Version version);

}  // namespace tutti::core::nccl
