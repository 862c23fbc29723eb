#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace tutti::core {

struct MessageType;

/// What a schema says about a field: what may be written there, and what it means.
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
  std::string other_name;  ///< in camelCase, which JSON may use
  std::string full_name;   ///< "tutti.proto.Run.steps"
  std::string help;        ///< the schema's comment
  std::string otherwise;  ///< what holds where the field is not written, in the comment's words: "3", "required"; or ""
  std::string unit;       ///< by the ending of the name: "µs", "GB/s", …; or ""
  std::string one_of;     ///< of fields with the same name here one can be written; "": this one stands by itself
  Kind kind = Kind::kText;
  bool repeated = false;
  std::vector<Choice> choices;  ///< without the one that stands for the default
  const MessageType* message = nullptr;
};

struct MessageType {
  std::string name;
  std::string help;
  std::vector<FieldType> fields;  ///< in the schema's order

  /// By either name; null if there is none.
  [[nodiscard]] const FieldType* find(std::string_view field) const;
};

/// A Protocol Buffers schema with its comments: what a form is made of.
class Schema {
 public:
  /// That of scenarios: core/proto, as it was when this program was built, and what registered frameworks add to it.
  static Schema scenario();
  /// `descriptors`: a serialized google.protobuf.FileDescriptorSet, each file behind those that it imports, with comments
  /// if they are to be shown (protoc --descriptor_set_out --include_source_info); `root`: the full name of the message
  /// that a text holds.
  /// ERRORS: the bytes are no such thing; there is no such message; a message that holds itself.
  static Expected<Schema> read(std::string_view descriptors, const std::string& root);

  [[nodiscard]] const MessageType& root() const { return *root_; }

 private:
  friend class SchemaReader;
  std::shared_ptr<std::deque<MessageType>> types_ = std::make_shared<std::deque<MessageType>>();
  const MessageType* root_ = nullptr;
};

}  // namespace tutti::core
