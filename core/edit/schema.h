#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace tutti::core {

struct MessageType;

/// A field of a schema: its type, valid values and documentation.
struct FieldType {
  enum class Kind {
    kText,
    kWhole,   ///< an integer
    kNumber,  ///< any number
    kYesNo,
    kChoice,   ///< one of `choices`
    kMessage,  ///< the fields of `message`
  };
  struct Choice {
    std::string name;
    std::string help;
  };

  std::string name;
  std::string other_name;  ///< name in camelCase, which may be used in JSON
  std::string full_name;   ///< full name: "tutti.proto.Run.steps"
  std::string help;        ///< comment in the schema
  std::string otherwise;   ///< default value as the comment states it, such as "3", "required" or
                           ///< "required with burst_ms"; may be empty
  std::string unit;        ///< unit from the end of the name: "µs", "GB/s"; may be empty
  std::string one_of;      ///< name of the oneof to which the field belongs; empty: none
  Kind kind = Kind::kText;
  bool repeated = false;
  std::vector<Choice>
      choices;  ///< for kChoice: the values of the enum, except the value "unspecified"
  const MessageType* message = nullptr;
};

struct MessageType {
  std::string name;
  std::string help;
  std::vector<FieldType> fields;  ///< the message's fields, in the order of the schema

  /// Returns the field whose name or camelCase name is `field`; null if there is none.
  [[nodiscard]] const FieldType* find(std::string_view field) const;
};

/// A Protocol Buffers schema with its comments. The scenario editor generates its forms from the
/// schema.
class Schema {
 public:
  /// Returns the schema of scenarios that was compiled into this program (core/proto), with the
  /// messages of registered frameworks.
  static Schema scenario();
  /// Reads a schema. `descriptors` is a serialized google.protobuf.FileDescriptorSet, in which each
  /// file comes after the files that it imports. protoc --descriptor_set_out writes such a set;
  /// with --include_source_info, it contains the comments. `root` is the full name of the root
  /// message.
  /// ERRORS: the bytes are invalid; there is no message `root`; a message contains itself.
  static Expected<Schema> read(std::string_view descriptors, const std::string& root);

  [[nodiscard]] const MessageType& root() const { return *root_; }

 private:
  friend class SchemaReader;
  std::shared_ptr<std::deque<MessageType>> types_ = std::make_shared<std::deque<MessageType>>();
  const MessageType* root_ = nullptr;
};

}  // namespace tutti::core
