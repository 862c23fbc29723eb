#pragma once

#include <string_view>

namespace tutti::core {

/// Returns core/proto/scenario.proto and its imports as a serialized FileDescriptorSet with
/// comments, which compiled-in schemas do not have. protoc generates it during the build.
std::string_view schema_text();

}  // namespace tutti::core
