// The editor's forms are generated from the .proto files of scenarios, so a new field needs no code
// in the editor. This file converts the descriptors of .proto files to structs without types of
// Protocol Buffers. Descriptors cannot store units and defaults. By convention, the name of a field
// ends with its unit, and its comment states the default in a clause that begins with "Default" or
// "Required". The default of an enum is its enumerator with the number 0. Each message is converted
// once. Fields point to messages, so messages are stored in a deque, whose elements
// never move. `open_` contains the messages whose conversion has begun but not ended. If the type
// of a field is such a message, the message contains itself, which is an error, because its form
// would be infinite.

#include "core/edit/schema.h"

#include <algorithm>
#include <map>
#include <optional>
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

/// Returns true if a clause can begin at position `at`: at the beginning, after a line break, or
/// after the end of a sentence or clause and a space.
bool begins_clause(std::string_view text, std::size_t at) {
  if (at == 0 || text[at - 1] == '\n') return true;
  return at > 1 && text[at - 1] == ' ' && is_one_of(text[at - 2], ".;)");
}

/// Returns the position of the end of the clause that contains position `at`: that of a line break,
/// or, outside of parentheses, that of a semicolon or of a period at the end of a word.
std::size_t end_of_clause(std::string_view text, std::size_t at) {
  for (int depth = 0; at < text.size(); ++at) {
    if (text[at] == '\n') break;
    depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (depth > 0) continue;
    if (text[at] == ';') break;
    if (text[at] == '.' && (at + 1 == text.size() || is_one_of(text[at + 1], " \n"))) break;
  }
  return at;
}

/// Finds the first clause that begins with `word`, which begins with a small letter. The first
/// letter may also be a capital. Returns the text after the word; nullopt: there is no such clause.
std::optional<std::string> clause_after(const std::string& text, const std::string& word) {
  for (auto at = text.find(word.substr(1)); at != std::string::npos;
       at = text.find(word.substr(1), at + 1)) {
    if (at == 0 || !begins_clause(text, at - 1)) continue;
    if (static_cast<char>(text[at - 1] | ' ') != word.front()) continue;
    const std::size_t from = at + word.size() - 1;
    if (from < text.size() && !is_one_of(text[from], " :,;.\n")) continue;
    return text.substr(from, end_of_clause(text, from) - from);
  }
  return std::nullopt;
}

/// Returns the default that a field's comment states: "3" for "Default 3." and for "default: 3",
/// and "required unless …" for "Required unless ….".
std::string otherwise(const std::string& help) {
  if (const auto words = clause_after(help, "default")) {
    const std::size_t from = words->find_first_not_of(": ");
    if (from != std::string::npos) return words->substr(from);
  }
  const auto condition = clause_after(help, "required");
  return condition ? "required" + *condition : "";
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
      // An enumerator with the number 0 is the value of a field that is not written.
      if (!field.otherwise.empty() || value.number() != 0) continue;
      field.otherwise = is_default ? help.substr(0, help.find_last_not_of('.') + 1) : value.name();
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
