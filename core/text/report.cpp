#include "core/text/report.h"

#include <fmt/format.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include "core/base/format.h"
#include "core/text/shown.h"

namespace tutti::core {
namespace {

using JsonWriter = rapidjson::PrettyWriter<rapidjson::StringBuffer>;

bool is_nothing(const ReportValue& value) {
  return std::holds_alternative<ReportValue::Nothing>(value.content());
}

/// Writes a text as UTF-8, which JSON requires (RFC 8259, section 8.1). Texts from files may
/// contain other bytes.
template <class Write>
void write_text(const std::string& text, Write write) {
  const std::string valid = as_utf8(text);
  write(valid.data(), static_cast<rapidjson::SizeType>(valid.size()));
}

/// Converts a report value of any type to JSON.
struct ToJson {
  JsonWriter& writer;

  void operator()(ReportValue::Nothing) const { writer.Null(); }
  void operator()(std::nullptr_t) const { writer.Null(); }
  void operator()(bool yes) const { writer.Bool(yes); }
  void operator()(std::int64_t number) const { writer.Int64(number); }
  void operator()(std::uint64_t number) const { writer.Uint64(number); }
  void operator()(double number) const { writer.Double(number); }
  void operator()(const std::string& text) const {
    write_text(text,
               [&](const char* valid, rapidjson::SizeType size) { writer.String(valid, size); });
  }
  void operator()(Time time) const { writer.Double(to_us(time)); }
  void operator()(Bytes bytes) const { writer.Int64(bytes.count()); }
  void operator()(Bandwidth bandwidth) const { writer.Double(to_gb_per_s(bandwidth)); }
  void operator()(Fraction share) const { writer.Double(share.of_whole); }
  void operator()(const Report& report) const {
    writer.StartObject();
    for (const ReportField& field : report.fields()) {
      if (field.name.empty() || is_nothing(field.value)) continue;
      write_text(field.name,
                 [&](const char* valid, rapidjson::SizeType size) { writer.Key(valid, size); });
      std::visit(*this, field.value.content());
    }
    writer.EndObject();
  }
  void operator()(const ReportValue::List& list) const {
    writer.StartArray();
    for (const ReportValue& value : list) std::visit(*this, value.content());
    writer.EndArray();
  }
};

struct ToText {
  std::string operator()(ReportValue::Nothing) const { return ""; }
  std::string operator()(std::nullptr_t) const { return ""; }
  std::string operator()(bool yes) const { return yes ? "yes" : "no"; }
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(Fraction share) const { return show_share(share.of_whole); }
  template <class Number>
  requires(std::integral<Number> || std::floating_point<Number>) std::string operator()(
      Number number) const {
    return fmt::format("{}", number);
  }
  template <class Quantity>
  requires requires(Quantity quantity) { show(quantity); }
  std::string operator()(Quantity quantity) const { return show(quantity); }
  std::string operator()(const Report&) const { return ""; }
  std::string operator()(const ReportValue::List&) const { return ""; }
};

}  // namespace

Report::Report() = default;
Report::Report(const Report&) = default;
Report::Report(Report&&) noexcept = default;
Report& Report::operator=(const Report&) = default;
Report& Report::operator=(Report&&) noexcept = default;
Report::~Report() = default;
Report::Report(std::initializer_list<ReportField> fields) : fields_(fields) {}

Report& Report::add(std::string name, ReportValue value, std::string title, std::string text) {
  fields_.push_back({std::move(name), std::move(value), std::move(title), std::move(text)});
  return *this;
}

Report& Report::add(const Report& other) {
  fields_.insert(fields_.end(), other.fields_.begin(), other.fields_.end());
  return *this;
}

std::string shown(const ReportValue& value) { return std::visit(ToText(), value.content()); }

std::string to_json(const Report& report) {
  rapidjson::StringBuffer buffer;
  JsonWriter writer(buffer);
  writer.SetIndent(' ', 1);
  ToJson{writer}(report);
  return std::string(buffer.GetString(), buffer.GetSize()) + "\n";
}

}  // namespace tutti::core
