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
    kWhole,   ///< a whole number
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
  std::string other_name;  ///< the name in camelCase, which JSON may use
  std::string full_name;   ///< such as "tutti.proto.Run.steps"
  std::string help;        ///< the comment in the schema
  std::string otherwise;   ///< the default in the comment's words: "3", "required"; or ""
  std::string unit;        ///< from the ending of the name: "µs", "GB/s", …; or ""
  std::string one_of;  ///< only one of the message's fields with the same name here can be written;
                       ///< "": no restriction
  Kind kind = Kind::kText;
  bool repeated = false;
  std::vector<Choice> choices;  ///< without the value for the default
  const MessageType* message = nullptr;
};

struct MessageType {
  std::string name;
  std::string help;
  std::vector<FieldType> fields;  ///< in the order of the schema

  /// Returns the field with either name; null if there is none.
  [[nodiscard]] const FieldType* find(std::string_view field) const;
};

/// A Protocol Buffers schema with its comments, from which forms are generated.
class Schema {
 public:
  /// Returns the schema of scenarios: core/proto as of the build of this program, and the additions
  /// of registered frameworks.
  static Schema scenario();
  /// Reads a schema. `descriptors`: a serialized google.protobuf.FileDescriptorSet, each file after
  /// those that it imports, with comments if they are to be shown (protoc --descriptor_set_out
  /// --include_source_info); `root`: the full name of the text's message.
  /// ERRORS: the bytes are invalid; there is no such message; a message contains itself.
  static Expected<Schema> read(std::string_view descriptors, const std::string& root);

  [[nodiscard]] const MessageType& root() const { return *root_; }

 private:
  friend class SchemaReader;
  std::shared_ptr<std::deque<MessageType>> types_ = std::make_shared<std::deque<MessageType>>();
  const MessageType* root_ = nullptr;
};

}  // namespace tutti::core
