#include "real/wire/protocol.h"

#include <cstdint>
#include <set>
#include <string>

#include <fmt/format.h>
#include <google/protobuf/descriptor.pb.h>

#include "core/base/fnv.h"
#include "core/base/version.h"
#include "real/proto/run.pb.h"

namespace tutti::real {
namespace {

/// Adds the files of a schema. Each file follows the files that it imports. Descriptors contain no
/// comments.
void add(const google::protobuf::FileDescriptor& file, std::set<std::string>& known,
         std::string& text) {
  if (!known.insert(std::string(file.name())).second) return;
  for (int i = 0; i < file.dependency_count(); ++i) add(*file.dependency(i), known, text);
  google::protobuf::FileDescriptorProto schema;
  file.CopyTo(&schema);
  text += schema.SerializeAsString();
}

std::string made() {
  std::set<std::string> known;
  std::string schema;
  add(*tutti::proto::Control::descriptor()->file(), known, schema);
  core::Fnv digest;
  digest.bytes(schema);
  return fmt::format("{}+{}-{:08x}", core::version(), kProtocolNumber,
                     static_cast<std::uint32_t>(digest.value()));
}

std::string_view common_part(std::string_view protocol) {
  return protocol.substr(protocol.rfind('+') + 1);
}

}  // namespace

std::string_view protocol() {
  static const std::string text = made();
  return text;
}

bool is_compatible(std::string_view theirs) {
  return common_part(theirs) == common_part(protocol());
}

}  // namespace tutti::real
