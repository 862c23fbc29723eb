#pragma once

#include <string_view>

namespace tutti::core {

/// core/proto/scenario.proto and what it imports, as a serialized FileDescriptorSet with comments: compiled programs keep
/// a schema without them. Made by protoc when Tutti is built.
std::string_view schema_text();

}  // namespace tutti::core
