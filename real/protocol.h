#pragma once

#include <string_view>

namespace tutti::real {

/// "0.1.0-5f3a09c1": what those who want to talk to each other must have in common. The version, and a digest of what
/// says how they talk, so that builds from different sources of one version do not take each other's messages for theirs.
std::string_view protocol();

}  // namespace tutti::real
