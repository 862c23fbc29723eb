#pragma once

// Tries values in the fields of a message, which are found by reflection. The message is printed
// with one field per line, with the value to try instead of the field's value, so that the position
// of an error tells which field was wrong.

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tutti::core::wrong_values {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

/// The text to print instead of a field's value.
struct Substitute {
  const Message* message;
  const FieldDescriptor* field;
  std::string value;
};

class Printer {
 public:
  explicit Printer(const Substitute& substitute) : substitute_(substitute) {}

  std::string text;
  int line = 0;    ///< line of the substitute
  int column = 0;  ///< column at which its value starts

  void print(const Message& message, int indent = 0) {
    const Descriptor& type = *message.GetDescriptor();
    for (int i = 0; i < type.field_count(); ++i) print(message, *type.field(i), indent);
  }

 private:
  void print(const Message& message, const FieldDescriptor& field, int indent);

  void add(const std::string& written) {
    text += written + "\n";
    ++lines_;
  }

  const Substitute& substitute_;
  int lines_ = 0;
};

/// Returns values that do not have the field's type.
std::vector<std::string> of_wrong_type(const FieldDescriptor& field);
/// Returns extreme and unusual values of the field's type.
std::vector<std::string> at_the_ends(const FieldDescriptor& field);

using Try = std::function<void(const Substitute&)>;
using Values = std::vector<std::string> (*)(const FieldDescriptor&);

/// Visits all fields of a message and of the messages inside it. If there are several messages of
/// one type, only the first is visited.
class Walk {
 public:
  Walk(Values values, const Try& attempt) : values_(values), try_(attempt) {}

  /// `under`: the path from here on, with dots between the fields.
  void walk(const Message& message, const std::string& under = "");

  std::set<const Descriptor*> seen;

 private:
  /// Returns true if another field of the same `oneof` is set. Setting both would be the only
  /// error.
  static bool excluded(const Message& message, const FieldDescriptor& field) {
    const auto* const one_of = field.real_containing_oneof();
    const auto* const there =
        one_of ? message.GetReflection()->GetOneofFieldDescriptor(message, one_of) : nullptr;
    return there && there != &field;
  }

  static std::vector<const Message*> messages_of(const Message& message,
                                                 const FieldDescriptor& field) {
    const Reflection& reflection = *message.GetReflection();
    std::vector<const Message*> messages;
    if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return messages;
    for (int i = 0; field.is_repeated() && i < reflection.FieldSize(message, &field); ++i)
      messages.push_back(&reflection.GetRepeatedMessage(message, &field, i));
    if (!field.is_repeated() && reflection.HasField(message, &field))
      messages.push_back(&reflection.GetMessage(message, &field));
    return messages;
  }

  Values values_;
  const Try& try_;
};

}  // namespace tutti::core::wrong_values
