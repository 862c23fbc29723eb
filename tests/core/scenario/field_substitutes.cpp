#include "tests/core/scenario/field_substitutes.h"

#include <google/protobuf/text_format.h>

#include <cstddef>

namespace tutti::core::wrong_values {

void Printer::print(const Message& message, const FieldDescriptor& field, int indent) {
  const Reflection& reflection = *message.GetReflection();
  int first = 0;
  if (&message == substitute_.message && &field == substitute_.field) {
    const std::string name =
        std::string(static_cast<std::size_t>(indent), ' ') + field.name() + ": ";
    line = lines_ + 1;
    column = static_cast<int>(name.size()) + 1;
    add(name + substitute_.value);
    first = 1;
  }
  const int count = field.is_repeated() ? reflection.FieldSize(message, &field)
                                        : (reflection.HasField(message, &field) ? 1 : 0);
  for (int i = first; i < count; ++i) {
    const std::string name = std::string(static_cast<std::size_t>(indent), ' ') + field.name();
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      add(name + " {");
      print(field.is_repeated() ? reflection.GetRepeatedMessage(message, &field, i)
                                : reflection.GetMessage(message, &field),
            indent + 2);
      add(std::string(static_cast<std::size_t>(indent), ' ') + "}");
    } else {
      std::string value;
      google::protobuf::TextFormat::PrintFieldValueToString(message, &field,
                                                            field.is_repeated() ? i : -1, &value);
      add(name + ": " + value);
    }
  }
}

std::vector<std::string> of_wrong_type(const FieldDescriptor& field) {
  std::vector<std::string> values;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_UINT32:
    case FieldDescriptor::CPPTYPE_UINT64:
      values = {
          "3.5", "\"many\"", "\"\"", "{ }", "true", "nan", "-inf", "1e300", "99999999999999999999",
          "--5"};
      break;
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      values = {"\"fast\"", "\"\"", "{ }", "true", "nan", "inf", "-inf", "\"NaN\"", "1e400"};
      break;
    case FieldDescriptor::CPPTYPE_BOOL: values = {"1", "0.5", "\"true\"", "{ }", "maybe"}; break;
    case FieldDescriptor::CPPTYPE_ENUM:
      values = {"NO_SUCH_NAME", "\"\"", "1", "3.5", "{ }", "true"};
      break;
    case FieldDescriptor::CPPTYPE_STRING: values = {"5", "-3.5", "true", "WORD", "{ }"}; break;
    case FieldDescriptor::CPPTYPE_MESSAGE:
      values = {"5", "\"text\"", "WORD", "{ no_such_field: 1 }"};
      break;
  }
  const std::size_t scalars = values.size();
  for (std::size_t i = 0; i < scalars; ++i) values.push_back("[" + values[i] + "]");
  if (!field.is_repeated()) values.push_back("[]");
  return values;
}

std::vector<std::string> at_the_ends(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32: return {"0", "-1", "1", "7", "2147483647", "-2147483648"};
    case FieldDescriptor::CPPTYPE_INT64:
      return {"0",
              "-1",
              "1",
              "7",
              "2147483647",
              "70368744177664",
              "9223372036854775807",
              "-9223372036854775808"};
    case FieldDescriptor::CPPTYPE_UINT32: return {"0", "4294967295"};
    case FieldDescriptor::CPPTYPE_UINT64: return {"0", "18446744073709551615"};
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return {"0", "-0.0", "-1", "1e300", "-1e300", "1e-300", "5e-324", "1e6", "1e9"};
    case FieldDescriptor::CPPTYPE_BOOL: return {"true", "false"};
    case FieldDescriptor::CPPTYPE_ENUM: {
      std::vector<std::string> names;
      for (int i = 0; i < field.enum_type()->value_count(); ++i)
        names.push_back(field.enum_type()->value(i)->name());
      return names;
    }
    case FieldDescriptor::CPPTYPE_STRING:
      return {"\"\"",
              "\"x\"",
              "\"/\"",
              "\"[0-\"",
              "\"gpu[0-4095]\"",
              "\"a b\\n\"",
              "\"" + std::string(5000, 'y') + "\""};
    case FieldDescriptor::CPPTYPE_MESSAGE: return {"{ }"};
  }
  return {};
}

void Walk::walk(const Message& message, const std::string& under) {
  const Descriptor& type = *message.GetDescriptor();
  const std::string name = under.substr(0, under.find('.'));
  const std::string rest = name.size() < under.size() ? under.substr(name.size() + 1) : "";
  if (name.empty() && !seen.insert(&type).second) return;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (!name.empty() && field.name() != name) continue;
    for (const std::string& value :
         excluded(message, field) ? std::vector<std::string>() : values_(field))
      try_({&message, &field, value});
    for (const Message* inside : messages_of(message, field)) walk(*inside, rest);
  }
}

}  // namespace tutti::core::wrong_values
