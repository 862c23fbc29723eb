// The editor's forms are generated from the .proto files of scenarios, so a new field needs no code
// in the editor. This file converts the descriptors of .proto files to structs without types of
// Protocol Buffers. Descriptors cannot store units and defaults. By convention, the name of a field
// ends with its unit, and its comment states the default by "Default …" or "Required". Each message
// is converted once. Fields point to messages, so messages are stored in a deque, whose elements
// never move. `open_` contains the messages whose conversion has begun but not ended. If the type
// of a field is such a message, the message contains itself, which is an error, because its form
// would be infinite.

#include "core/edit/schema.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include "core/base/check.h"
#include "core/base/quantity.h"
#include "core/edit/schema_text.h"
#include "core/framework/registry.h"

namespace tutti::core {

namespace pb = google::protobuf;

const FieldType* MessageType::find(std::string_view field) const {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const FieldType& f) { return f.name == field; });
  if (found != fields.end()) return &*found;
  const auto other = std::find_if(fields.begin(), fields.end(),
                                  [&](const FieldType& f) { return f.other_name == field; });
  return other == fields.end() ? nullptr : &*other;
}

namespace {

/// Returns a comment as plain text. Indentation is removed, and the lines of each paragraph are
/// joined.
std::string plain(const std::string& comment) {
  std::istringstream lines(comment);
  std::string text;
  bool paragraph = false;
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find_first_not_of(" \t");
    if (first == std::string::npos) {
      paragraph = !text.empty();
      continue;
    }
    line = line.substr(first, line.find_last_not_of(" \t") - first + 1);
    if (!text.empty()) text += paragraph ? "\n" : " ";
    paragraph = false;
    text += line;
  }
  return text;
}

template <class Descriptor>
std::string comment_of(const Descriptor& what) {
  pb::SourceLocation place;
  if (!what.GetSourceLocation(&place)) return "";
  return plain(place.leading_comments + place.trailing_comments);
}

bool is_one_of(char c, std::string_view these) { return these.find(c) != std::string_view::npos; }

/// Returns the default that a field's comment states: "3" for "Default 3.", and "required" for "…
/// Required.".
std::string otherwise(const std::string& help) {
  const auto sentence = [&](const std::string& begin) -> std::string {
    auto at = help.find(begin);
    while (at != std::string::npos && at > 0 && !is_one_of(help[at - 1], " \n"))
      at = help.find(begin, at + 1);
    if (at == std::string::npos) return "";
    std::size_t from = at + begin.size();
    while (from < help.size() && is_one_of(help[from], ": ")) ++from;
    std::size_t to = help.find_first_of(";\n", from);
    for (std::size_t dot = help.find('.', from); dot < to; dot = help.find('.', dot + 1)) {
      if (dot + 1 == help.size() || help[dot + 1] == ' ' || help[dot + 1] == '\n') {
        to = dot;
        break;
      }
    }
    return help.substr(from, to == std::string::npos ? to : to - from);
  };
  if (const std::string words = sentence("Default"); !words.empty()) return words;
  return help.find("Required") == std::string::npos ? "" : "required";
}

bool stands_for_the_default(const std::string& choice) {
  return choice.ends_with("_UNSPECIFIED") || choice.ends_with("_DEFAULT");
}

FieldType::Kind kind_of(const pb::FieldDescriptor& field) {
  using D = pb::FieldDescriptor;
  switch (field.cpp_type()) {
    case D::CPPTYPE_INT32:
    case D::CPPTYPE_INT64:
    case D::CPPTYPE_UINT32:
    case D::CPPTYPE_UINT64: return FieldType::Kind::kWhole;
    case D::CPPTYPE_DOUBLE:
    case D::CPPTYPE_FLOAT: return FieldType::Kind::kNumber;
    case D::CPPTYPE_BOOL: return FieldType::Kind::kYesNo;
    case D::CPPTYPE_ENUM: return FieldType::Kind::kChoice;
    case D::CPPTYPE_STRING: return FieldType::Kind::kText;
    case D::CPPTYPE_MESSAGE: return FieldType::Kind::kMessage;
  }
  return FieldType::Kind::kText;
}

/// Collects the errors that Protobuf reports while it loads a schema.
class Mistakes : public pb::DescriptorPool::ErrorCollector {
 public:
  void AddError(const std::string& file, const std::string& element, const pb::Message*,
                ErrorLocation, const std::string& message) override {
    problems.add({ProblemCode::kInvalid, element}, {file, 0, 0}, "{}: {}", element, message);
  }

  Problems problems;
};

}  // namespace

/// Converts descriptors to MessageType and FieldType, each message once.
class SchemaReader {
 public:
  Expected<Schema> read(std::string_view descriptors, const std::string& root,
                        const GuestMessages& guests) {
    pb::FileDescriptorSet files;
    if (!files.ParseFromArray(descriptors.data(), static_cast<int>(descriptors.size())))
      return tl::make_unexpected(
          Error::request({ProblemCode::kSyntax}, "the descriptors of the schema are invalid"));
    Mistakes mistakes;
    for (const pb::FileDescriptorProto& file : files.file()) {
      if (!pool_.BuildFileCollectingErrors(file, &mistakes)) return mistakes.problems.take();
    }
    const pb::Descriptor* const top = pool_.FindMessageTypeByName(root);
    if (!top)
      return tl::make_unexpected(
          Error::request({ProblemCode::kUnknownName, root}, "the schema has no message " + root));
    schema_.root_ = message(*top);
    guests.visit([this](const pb::Descriptor& host, const std::string& field,
                        const pb::Descriptor& type) { add_guest(host, field, type); });
    if (!endless_.empty())
      return tl::make_unexpected(Error::request({ProblemCode::kInvalid, endless_},
                                                "the message " + endless_ + " holds itself"));
    return std::move(schema_);
  }

 private:
  /// Adds a field that a registered framework defines, so that the schema of scenarios does not
  /// contain it. The comments of the field are not available, because compiled descriptors have
  /// none.
  void add_guest(const pb::Descriptor& host, const std::string& name, const pb::Descriptor& type) {
    const pb::Descriptor* const here = pool_.FindMessageTypeByName(host.full_name());
    const auto known = known_.find(here);
    if (known == known_.end()) return;
    FieldType field;
    field.name = field.other_name = name;
    field.full_name = fmt::format("{}.{}", host.full_name(), name);
    field.kind = FieldType::Kind::kMessage;
    field.message = message(type);
    known->second->fields.push_back(std::move(field));
  }

  const MessageType* message(const pb::Descriptor& type) {
    if (const auto known = known_.find(&type); known != known_.end()) {
      if (open_.contains(&type)) endless_ = type.full_name();
      return known->second;
    }
    open_.insert(&type);
    MessageType& made = schema_.types_->emplace_back();
    known_[&type] = &made;
    made.name = type.name();
    made.help = comment_of(type);
    for (int i = 0; i < type.field_count(); ++i) made.fields.push_back(field(*type.field(i)));
    open_.erase(&type);
    return &made;
  }

  FieldType field(const pb::FieldDescriptor& written) {
    FieldType made;
    made.name = written.name();
    made.other_name = written.camelcase_name();
    made.full_name = written.full_name();
    made.help = comment_of(written);
    made.otherwise = otherwise(made.help);
    made.unit = unit_of_field(made.name);
    made.kind = kind_of(written);
    made.repeated = written.is_repeated();
    if (const auto* const one_of = written.real_containing_oneof()) made.one_of = one_of->name();
    if (made.kind == FieldType::Kind::kChoice) add_choices(*written.enum_type(), made);
    if (made.kind == FieldType::Kind::kMessage) {
      made.message = message(*written.message_type());
      if (made.help.empty()) made.help = made.message->help;
    }
    return made;
  }

  static void add_choices(const pb::EnumDescriptor& type, FieldType& field) {
    for (int i = 0; i < type.value_count(); ++i) {
      const pb::EnumValueDescriptor& value = *type.value(i);
      const std::string help = comment_of(value);
      const bool is_default = stands_for_the_default(value.name());
      if (!is_default) field.choices.push_back({value.name(), help});
      if (!field.otherwise.empty()) continue;
      if (is_default) field.otherwise = help.substr(0, help.find_last_not_of('.') + 1);
      if (help.starts_with("Default")) field.otherwise = value.name();
    }
  }

  pb::DescriptorPool pool_;
  Schema schema_;
  std::map<const pb::Descriptor*, MessageType*> known_;
  std::set<const pb::Descriptor*> open_;
  std::string endless_;
};

Expected<Schema> Schema::read(std::string_view descriptors, const std::string& root) {
  return SchemaReader().read(descriptors, root, GuestMessages());
}

Schema Schema::scenario() {
  auto made = SchemaReader().read(schema_text(), "tutti.proto.Scenario", framework_messages());
  TUTTI_CHECK(made.has_value(), "the built-in schema cannot be read");
  return std::move(*made);
}

}  // namespace tutti::core
