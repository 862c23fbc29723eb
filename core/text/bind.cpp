// Copies a parsed text into a message field by field, by reflection. A value that the field cannot
// store is reported at its position and omitted. Binding then continues with the next field, so
// that one pass reports all mistakes. A message from which a value was omitted differs from its
// text. This message and all messages that contain it are marked as incomplete, and readers do not
// use them. Only the first problem at a position is reported, because later ones would be
// consequences of it. Numbers are the hard part. An integer may be decimal, octal, hexadecimal,
// written as 1e6, or have a unit. An integer may also be in quotes, because JSON has no other form
// for 64-bit integers. A number with a unit is converted to the unit at the end of the field's
// name: `latency_us: "1.5ms"` is 1500. core/text/fields.h checks ranges and reports missing fields.

#include "core/text/bind.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "core/base/check.h"
#include "core/base/quantity.h"

namespace tutti::core {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

std::string schema_name(const Message& message, const std::string& field) {
  const std::string& type = message.GetDescriptor()->name();
  return field.empty() ? type : type + "." + field;
}

Location SourceMap::at(const Message& message) const {
  const auto place = places_.find({&message, "", 0});
  return place == places_.end() ? file()
                                : Location{file_, place->second.line, place->second.column};
}

Location SourceMap::at(const Message& message, const std::string& field, int index) const {
  const auto place = places_.find({&message, field, index});
  return place == places_.end() ? at(message)
                                : Location{file_, place->second.line, place->second.column};
}

namespace {

std::vector<std::string> field_names(const Descriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) names.push_back(type.field(i)->name());
  return names;
}

/// Returns the names of the enum values that a user may write. Names that end with "_UNSPECIFIED"
/// or "_DEFAULT" are excluded.
std::vector<std::string> value_names(const EnumDescriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.value_count(); ++i) {
    const std::string& name = type.value(i)->name();
    if (!name.ends_with("_UNSPECIFIED") && !name.ends_with("_DEFAULT")) names.push_back(name);
  }
  return names;
}

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Describes the values that the field accepts, such as "a whole number".
std::string expectation(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_INT64: return "a whole number";
    case FieldDescriptor::CPPTYPE_UINT32:
    case FieldDescriptor::CPPTYPE_UINT64: return "a whole number of at least 0";
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT: return "a number";
    case FieldDescriptor::CPPTYPE_BOOL: return "true or false";
    case FieldDescriptor::CPPTYPE_ENUM: return "one of " + join(value_names(*field.enum_type()));
    case FieldDescriptor::CPPTYPE_STRING: return "a text in quotes";
    case FieldDescriptor::CPPTYPE_MESSAGE: return "a message { … }";
  }
  return "something else";
}

std::string name_of(const FieldDescriptor& field) {
  return field.containing_type()->name() + "." + field.name();
}

class Binder {
 public:
  Binder(SourceMap& sources, Problems& problems, GuestMessages* guests)
      : sources_(sources), problems_(problems), guests_(guests) {}

  /// Copies the fields of `value` into `message`. Returns false if at least one field could not be
  /// stored.
  bool bind_message(const Value& value, Message& message) {
    sources_.add_message(message, value.at);
    std::set<const FieldDescriptor*> seen;
    bool whole = !value.damaged;
    for (const Value::Field& written : value.fields) {
      if (problems_.full()) {
        whole = false;
        break;
      }
      whole = bind_field(written, message, seen) && whole;
    }
    if (!whole) sources_.add_partial(message);
    return whole;
  }

 private:
  /// Reports a problem with a value. Always returns false, which means that the value was not
  /// stored.
  template <class... Args>
  bool complain(ProblemKind kind, Position at, fmt::format_string<Args...> format, Args&&... args) {
    Location where = sources_.file();
    where.line = at.line;
    where.column = at.column;
    problems_.add(std::move(kind), where, format, std::forward<Args>(args)...);
    problems_.ignore_later_ones_at(where);
    return false;
  }

  bool bind_field(const Value::Field& written, Message& message,
                  std::set<const FieldDescriptor*>& seen) {
    const Descriptor& type = *message.GetDescriptor();
    const FieldDescriptor* field = type.FindFieldByName(written.name);
    if (!field) field = type.FindFieldByCamelcaseName(written.name);
    if (!field && guests_ && guests_->expected(type, written.name))
      return bind_guest(written, message);
    if (!field) {
      const std::vector<std::string> names = field_names(type);
      const std::string hint = did_you_mean(written.name, names);
      return complain({ProblemCode::kUnknownField, schema_name(message, written.name)}, written.at,
                      "unknown field \"{}\" in {}{}", written.name, type.name(),
                      hint.empty() ? "; it has " + join(names) : hint);
    }
    if (written.value.kind == Value::Kind::kIdentifier && written.value.text == "null") return true;
    if (field->is_repeated()) {
      if (written.value.kind != Value::Kind::kList)
        return bind_value(written.value, *field, message);
      bool whole = true;
      for (const Value& item : written.value.items) {
        if (problems_.full()) return false;
        whole = bind_value(item, *field, message) && whole;
      }
      return whole;
    }
    if (!seen.insert(field).second) {
      return complain({ProblemCode::kDuplicate, schema_name(message, field->name())}, written.at,
                      "\"{}\" is given twice; keep one", field->name());
    }
    if (const auto* one_of = field->real_containing_oneof()) {
      const FieldDescriptor* const other =
          message.GetReflection()->GetOneofFieldDescriptor(message, one_of);
      if (other)
        return complain({ProblemCode::kConflict, schema_name(message, field->name())}, written.at,
                        "\"{}\" and \"{}\" exclude each other; keep one", other->name(),
                        field->name());
    }
    return bind_value(written.value, *field, message);
  }

  bool bind_guest(const Value::Field& written, const Message& message) {
    sources_.add_field(message, written.name, 0, written.value.at);
    if (written.value.kind != Value::Kind::kMessage)
      return complain({ProblemCode::kWrongType, schema_name(message, written.name)},
                      written.value.at, "{}: expected a message {{ … }}, found {}", written.name,
                      describe(written.value));
    if (Message* const guest = guests_->add(written.name))
      return bind_message(written.value, *guest);
    return complain({ProblemCode::kDuplicate, schema_name(message, written.name)}, written.at,
                    "\"{}\" is given twice; keep one", written.name);
  }

  bool bind_value(const Value& value, const FieldDescriptor& field, Message& message) {
    const Reflection& reflection = *message.GetReflection();
    const bool repeated = field.is_repeated();
    const int index = repeated ? reflection.FieldSize(message, &field) : 0;
    sources_.add_field(message, field.name(), index, value.at);

    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      if (value.kind != Value::Kind::kMessage) return refuse(value, field);
      return bind_message(value, repeated ? *reflection.AddMessage(&message, &field)
                                          : *reflection.MutableMessage(&message, &field));
    }
    bool fits = false;
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        if (const auto n = integer<std::int32_t>(value, field); (fits = n.has_value()))
          repeated ? reflection.AddInt32(&message, &field, *n)
                   : reflection.SetInt32(&message, &field, *n);
        return fits;
      case FieldDescriptor::CPPTYPE_INT64:
        if (const auto n = integer<std::int64_t>(value, field); (fits = n.has_value()))
          repeated ? reflection.AddInt64(&message, &field, *n)
                   : reflection.SetInt64(&message, &field, *n);
        return fits;
      case FieldDescriptor::CPPTYPE_UINT32:
        if (const auto n = integer<std::uint32_t>(value, field); (fits = n.has_value()))
          repeated ? reflection.AddUInt32(&message, &field, *n)
                   : reflection.SetUInt32(&message, &field, *n);
        return fits;
      case FieldDescriptor::CPPTYPE_UINT64:
        if (const auto n = integer<std::uint64_t>(value, field); (fits = n.has_value()))
          repeated ? reflection.AddUInt64(&message, &field, *n)
                   : reflection.SetUInt64(&message, &field, *n);
        return fits;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        if (const auto x = number(value, field); (fits = x.has_value()))
          repeated ? reflection.AddDouble(&message, &field, *x)
                   : reflection.SetDouble(&message, &field, *x);
        return fits;
      case FieldDescriptor::CPPTYPE_BOOL:
        if (value.kind == Value::Kind::kIdentifier &&
            (value.text == "true" || value.text == "false")) {
          const bool b = value.text == "true";
          repeated ? reflection.AddBool(&message, &field, b)
                   : reflection.SetBool(&message, &field, b);
          return true;
        }
        return refuse(value, field);
      case FieldDescriptor::CPPTYPE_STRING:
        if (value.kind != Value::Kind::kString) return refuse(value, field);
        repeated ? reflection.AddString(&message, &field, value.text)
                 : reflection.SetString(&message, &field, value.text);
        return true;
      case FieldDescriptor::CPPTYPE_ENUM: return bind_enum(value, field, message);
      default: TUTTI_CHECK(false, "field {} has a type that is not supported", field.full_name());
    }
    return fits;
  }

  bool bind_enum(const Value& value, const FieldDescriptor& field, Message& message) {
    const Reflection& reflection = *message.GetReflection();
    const bool named = value.kind == Value::Kind::kIdentifier || value.kind == Value::Kind::kString;
    const auto* known = named ? field.enum_type()->FindValueByName(value.text) : nullptr;
    if (!known) {
      return complain({named ? ProblemCode::kUnknownName : ProblemCode::kWrongType, name_of(field)},
                      value.at, "{}: expected {}, found {}{}", field.name(), expectation(field),
                      describe(value), did_you_mean(value.text, value_names(*field.enum_type())));
    }
    field.is_repeated() ? reflection.AddEnum(&message, &field, known)
                        : reflection.SetEnum(&message, &field, known);
    return true;
  }

  static bool is_number(const FieldDescriptor& field) {
    return field.cpp_type() != FieldDescriptor::CPPTYPE_STRING &&
           field.cpp_type() != FieldDescriptor::CPPTYPE_BOOL &&
           field.cpp_type() != FieldDescriptor::CPPTYPE_ENUM &&
           field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE;
  }

  bool refuse(const Value& value, const FieldDescriptor& field) {
    double number = 0;
    const char* end = value.text.data() + value.text.size();
    const auto [read_to, status] = std::from_chars(value.text.data(), end, number);
    const bool quoted_number = value.kind == Value::Kind::kString && !value.from_json &&
                               is_number(field) && status == std::errc() && read_to == end &&
                               std::isfinite(number);
    const std::string hint = quoted_number      ? "; write the number without quotes"
                             : is_number(field) ? quantity_hint(field.name(), value.text)
                             : value.kind == Value::Kind::kIdentifier &&
                                     field.cpp_type() == FieldDescriptor::CPPTYPE_STRING
                                 ? fmt::format("; write \"{}\"", value.text)
                                 : "";
    return complain({ProblemCode::kWrongType, name_of(field)}, value.at,
                    "{}: expected {}, found {}{}", field.name(), expectation(field),
                    describe(value), hint);
  }

  /// True if the value may be a number. In JSON, a number may be in quotes; in the text format, it
  /// may not.
  static bool may_be_number(const Value& value) {
    return value.kind == Value::Kind::kNumber ||
           (value.kind == Value::Kind::kString && value.from_json);
  }

  /// Reads a number with a unit ("25MiB") and stores it in `number`, converted to the unit of the
  /// field. Returns false if the value has no unit. If the unit is wrong, reports a problem, leaves
  /// `number` empty and returns true.
  bool has_unit(const Value& value, const FieldDescriptor& field, std::optional<double>& number) {
    if (value.kind != Value::Kind::kNumber && value.kind != Value::Kind::kString) return false;
    const auto read = in_unit_of(field.name(), value.text);
    if (!read) {
      complain({ProblemCode::kWrongType, name_of(field)}, value.at, "{}: {}", field.name(),
               read.error());
      return true;
    }
    number = *read;
    return read->has_value();
  }

  /// Converts a number, which is already in the field's unit, to a whole number.
  template <class T>
  std::optional<T> whole(std::optional<double> number, const Value& value,
                         const FieldDescriptor& field) {
    if (!number) return std::nullopt;
    constexpr double kMax = std::min(9.0e15, static_cast<double>(std::numeric_limits<T>::max()));
    if (*number < (std::is_signed_v<T> ? -kMax : 0) || *number > kMax) {
      complain({*number < 0 ? ProblemCode::kTooSmall : ProblemCode::kTooLarge, name_of(field)},
               value.at, "{}: {} is out of range", field.name(), value.text);
      return std::nullopt;
    }
    if (*number == std::floor(*number)) return static_cast<T>(*number);
    complain({ProblemCode::kWrongType, name_of(field)}, value.at,
             "{}: {} is {}, but must be a whole number of {}", field.name(), value.text, *number,
             unit_of_field(field.name()));
    return std::nullopt;
  }

  /// Reads a whole number: decimal, 0x…, 0… (octal, as in text format), or any decimal spelling
  /// without a fraction (1e6).
  template <class T>
  std::optional<T> integer(const Value& value, const FieldDescriptor& field) {
    if (std::optional<double> number; has_unit(value, field, number))
      return whole<T>(number, value, field);
    if (!may_be_number(value)) {
      refuse(value, field);
      return std::nullopt;
    }
    std::string_view digits = value.text;
    const bool negative = digits.starts_with('-');
    if (negative) digits.remove_prefix(1);
    int base = 10;
    if (digits.starts_with("0x") || digits.starts_with("0X")) {
      base = 16;
      digits.remove_prefix(2);
    } else if (digits.size() > 1 && digits[0] == '0' &&
               digits.find_first_not_of("01234567") == std::string_view::npos) {
      base = 8;
    }
    std::uint64_t magnitude = 0;
    const auto [end, status] =
        std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
    const bool whole = status == std::errc() && end == digits.data() + digits.size();
    if (!whole && status != std::errc::result_out_of_range) {
      double x = 0;
      const auto [end_x, status_x] =
          std::from_chars(digits.data(), digits.data() + digits.size(), x);
      // If the text has a second sign ("--5"), x is negative here.
      const bool exact = base == 10 && status_x == std::errc() &&
                         end_x == digits.data() + digits.size() && x == std::floor(x) &&
                         !std::signbit(x) && x < 9.0e15;
      if (!exact) {
        refuse(value, field);
        return std::nullopt;
      }
      magnitude = static_cast<std::uint64_t>(x);
    }
    constexpr std::uint64_t kLargest = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    const std::uint64_t limit = negative ? (std::is_signed_v<T> ? kLargest + 1 : 0) : kLargest;
    if (status == std::errc::result_out_of_range || magnitude > limit) {
      complain({negative ? ProblemCode::kTooSmall : ProblemCode::kTooLarge, name_of(field)},
               value.at, "{}: {} is out of range; the {} is {}", field.name(), value.text,
               negative ? "minimum" : "maximum",
               negative ? fmt::format("{}", std::numeric_limits<T>::min())
                        : fmt::format("{}", kLargest));
      return std::nullopt;
    }
    return negative ? static_cast<T>(0 - magnitude) : static_cast<T>(magnitude);
  }

  std::optional<double> number(const Value& value, const FieldDescriptor& field) {
    if (std::optional<double> converted; has_unit(value, field, converted)) return converted;
    std::string_view text = value.text;
    const std::string_view bare = text.starts_with('-') ? text.substr(1) : text;
    if (value.kind != Value::Kind::kMessage && value.kind != Value::Kind::kList) {
      for (const std::string_view special :
           {"nan", "NaN", "inf", "Infinity", "infinity", "Inf", "NAN", "INF"}) {
        if (bare != special) continue;
        complain({ProblemCode::kInvalid, name_of(field)}, value.at, "{}: {} is not a finite number",
                 field.name(), value.text);
        return std::nullopt;
      }
    }
    if (may_be_number(value)) {
      if (value.kind == Value::Kind::kNumber && (text.ends_with('f') || text.ends_with('F')) &&
          !text.starts_with("0x"))
        text.remove_suffix(1);
      double x = 0;
      const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), x);
      if (status == std::errc() && end == text.data() + text.size()) return x;
      if (status == std::errc::result_out_of_range) {
        complain({ProblemCode::kTooLarge, name_of(field)}, value.at,
                 "{}: {} exceeds the range of a double", field.name(), value.text);
        return std::nullopt;
      }
    }
    refuse(value, field);
    return std::nullopt;
  }

  SourceMap& sources_;
  Problems& problems_;
  GuestMessages* guests_;
};

}  // namespace

struct GuestMessages::Guest {
  const Descriptor* host = nullptr;
  std::string field;
  const Message* prototype = nullptr;
  std::unique_ptr<Message> message;
};

GuestMessages::GuestMessages() = default;
GuestMessages::GuestMessages(GuestMessages&&) noexcept = default;
GuestMessages& GuestMessages::operator=(GuestMessages&&) noexcept = default;
GuestMessages::~GuestMessages() = default;

void GuestMessages::expect(const Descriptor& host, const std::string& field,
                           const Message& prototype) {
  guests_.push_back({&host, field, &prototype, nullptr});
}

bool GuestMessages::expected(const Descriptor& host, const std::string& field) const {
  return std::any_of(guests_.begin(), guests_.end(), [&](const Guest& guest) {
    return guest.host == &host && guest.field == field;
  });
}

Message* GuestMessages::add(const std::string& field) {
  for (Guest& guest : guests_) {
    if (guest.field != field || guest.message) continue;
    guest.message.reset(guest.prototype->New());
    return guest.message.get();
  }
  return nullptr;
}

const Message* GuestMessages::find(const std::string& field) const {
  for (const Guest& guest : guests_) {
    if (guest.field == field) return guest.message.get();
  }
  return nullptr;
}

void GuestMessages::visit(const std::function<void(const Descriptor&, const std::string&,
                                                   const Descriptor&)>& visitor) const {
  for (const Guest& guest : guests_)
    visitor(*guest.host, guest.field, *guest.prototype->GetDescriptor());
}

void bind(const Value& document, Message& message, SourceMap& sources, Problems& problems,
          GuestMessages* guests) {
  if (document.kind != Value::Kind::kMessage) {
    Location where = sources.file();
    where.line = document.at.line;
    where.column = document.at.column;
    problems.add({ProblemCode::kWrongType, schema_name(message)}, std::move(where),
                 "expected the fields of a {}, found {}", message.GetDescriptor()->name(),
                 describe(document));
    return;
  }
  Binder(sources, problems, guests).bind_message(document, message);
}

Document bind_named_file(const std::string& text, const std::string& path, Message& message,
                         SourceMap& sources, Problems& problems) {
  const Descriptor& type = *message.GetDescriptor();
  Problems own;
  Document document = parse_document(text, path, own);
  const auto is_known = [&type](const Value::Field& field) {
    return type.FindFieldByName(field.name) || type.FindFieldByCamelcaseName(field.name);
  };
  const auto& fields = document.root.fields;
  const bool foreign = std::none_of(fields.begin(), fields.end(), is_known);
  if (foreign && (!own.empty() || !fields.empty() || !document.root.items.empty())) {
    problems.add({ProblemCode::kWrongType, type.name()}, {path, 0, 0},
                 "this file is not a {}, because no field of the file belongs to this type; name "
                 "another file",
                 type.name());
    document.cut_off = true;
    return document;
  }
  // Parse the text again, now to report the syntax errors. bind() then reports no second problem at
  // the positions of these errors.
  if (!own.empty()) document = parse_document(text, path, problems);
  bind(document.root, message, sources, problems);
  return document;
}

}  // namespace tutti::core
