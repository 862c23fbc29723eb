#pragma once

#include <string_view>

namespace tutti::core {

/// Returns core/proto/scenario.proto and its imports as a serialized FileDescriptorSet with
/// comments. protoc generates it during the build, because the descriptors in generated C++ code
/// have no comments.
std::string_view schema_text();

}  // namespace tutti::core
