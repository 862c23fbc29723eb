#include "core/text/places.h"

#include <google/protobuf/descriptor.h>

namespace tutti::core {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

class PlaceFinder {
 public:
  explicit PlaceFinder(Places& places) : places_(places) {}

  /// `type` is null if the schema does not define the message.
  void add_message(const Value& message, const Descriptor* type, const std::string& path) {
    std::map<std::string, int> counts;  // for each repeated field, the number of elements so far
    for (const Value::Field& written : message.fields) {
      const FieldDescriptor* field = type ? type->FindFieldByName(written.name) : nullptr;
      if (type && !field) field = type->FindFieldByCamelcaseName(written.name);
      if (written.value.kind == Value::Kind::kIdentifier && written.value.text == "null") continue;
      const Descriptor* inner = field ? field->message_type() : nullptr;
      const std::string own = (path.empty() ? std::string() : path + ".") +
                              (field ? std::string(field->name()) : written.name);
      if (!field || !field->is_repeated()) {
        add(written.value, inner, own);
      } else if (written.value.kind != Value::Kind::kList) {
        add(written.value, inner, own, counts[own]++);
      } else {
        for (const Value& item : written.value.items) add(item, inner, own, counts[own]++);
      }
    }
  }

 private:
  void add(const Value& value, const Descriptor* type, const std::string& path) {
    places_.add(path, value.at);
    if (value.kind == Value::Kind::kMessage) add_message(value, type, path);
  }
  void add(const Value& value, const Descriptor* type, const std::string& path, int index) {
    places_.add(path, value.at);
    add(value, type, fmt::format("{}[{}]", path, index));
  }

  Places& places_;
};

}  // namespace

Places Places::of(const Value& document, const Descriptor& type, const std::string& file) {
  Places places(file);
  places.type_ = &type;
  places.add("", document.at);
  if (document.kind == Value::Kind::kMessage) PlaceFinder(places).add_message(document, &type, "");
  return places;
}

Location Places::at(std::string_view path) const {
  for (;;) {
    if (const auto place = places_.find(path); place != places_.end())
      return {file_, place->second.line, place->second.column};
    const std::size_t end = path.find_last_of(".[");
    if (path.empty()) return {file_, 0, 0};
    path = end == std::string_view::npos ? std::string_view() : path.substr(0, end);
  }
}

std::string Places::schema_name(std::string_view path) const {
  const Descriptor* type = type_;
  if (!type) return std::string(path);
  std::string name(type->name());
  for (std::string_view rest = path; !rest.empty();) {
    const std::size_t end = rest.find('.');
    const std::string_view written = rest.substr(0, end);
    const FieldDescriptor* field =
        type ? type->FindFieldByName(std::string(written.substr(0, written.find('[')))) : nullptr;
    if (!field) return std::string(path);
    const bool last = end == std::string_view::npos;
    // If the path names an element of a list ("slow[1]"), the subject is the message type of the
    // element.
    const bool element =
        last && written.find('[') != std::string_view::npos && field->message_type();
    name = element ? std::string(field->message_type()->name())
                   : std::string(type->name()) + "." + std::string(field->name());
    type = field->message_type();
    rest = last ? std::string_view() : rest.substr(end + 1);
  }
  return name;
}

std::optional<std::int64_t> Complaints::in_range(std::string_view path, std::string_view what,
                                                 std::int64_t value, std::int64_t least,
                                                 std::int64_t most) {
  if (value >= least && value <= most) return value;
  complain_at(path, value < least ? ProblemCode::kTooSmall : ProblemCode::kTooLarge,
              "{}: {} must be {} (got {})", what, path.substr(path.rfind('.') + 1),
              value < least ? fmt::format("at least {}", least) : fmt::format("at most {}", most),
              value);
  return std::nullopt;
}

}  // namespace tutti::core
