#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/units.h"

namespace tutti::core {

class ReportValue;
struct ReportField;

/// A share of a whole (0 … 1). Text output shows the fraction 0.123 as "12.3 %"; JSON output
/// contains the number 0.123.
struct Fraction {
  double of_whole = 0;
};

/// An ordered list of fields with values. Text output, JSON output and the GUI's panels are all
/// generated from reports. JSON contains the fields that have a name, and text output contains the
/// fields that have a title.
///
///     Report pack{{"pack", 3, "pack"}, {"bytes", 102400, "bytes"}, {"ready_us", ready, "ready"}};
///     to_json(pack)   {"pack": 3, "bytes": 102400, "ready_us": 12.5}
///     shown(ready)    "12.5 µs"
class Report {
 public:
  Report();
  Report(std::initializer_list<ReportField> fields);
  Report(const Report&);
  Report(Report&&) noexcept;
  Report& operator=(const Report&);
  Report& operator=(Report&&) noexcept;
  ~Report();

  Report& add(std::string name, ReportValue value, std::string title = {}, std::string text = {});
  /// Adds all fields of `other`.
  Report& add(const Report& other);

  [[nodiscard]] const std::vector<ReportField>& fields() const { return fields_; }

 private:
  std::vector<ReportField> fields_;
};

/// A value of a report. In JSON, times are in microseconds with six decimals (exact to a
/// picosecond), and rates are in GB/s; the field names state these units. In text, the unit depends
/// on the size of the value. An empty optional is omitted from JSON.
class ReportValue {
 public:
  using List = std::vector<ReportValue>;
  struct Nothing {};
  using Content = std::variant<Nothing, std::nullptr_t, bool, std::int64_t, std::uint64_t, double,
                               std::string, Time, Bytes, Bandwidth, Fraction, Report, List>;

  ReportValue() = default;
  /// Converts a number, a text, a quantity, a report, a list of such values, or an optional value.
  template <class T>
  requires(!std::same_as<T, ReportValue>) ReportValue(const T& value)
      : content_(content_of(value)) {}

  [[nodiscard]] const Content& content() const { return content_; }

 private:
  template <class T>
  static Content content_of(const T& value) {
    // nullptr is excluded, although it converts to string_view, because it means JSON's null.
    if constexpr (std::convertible_to<T, std::string_view> && !std::same_as<T, std::nullptr_t>) {
      return std::string(std::string_view(value));
    } else if constexpr (std::floating_point<T>) {
      return double{value};
    } else if constexpr (std::unsigned_integral<T> && !std::same_as<T, bool>) {
      return std::uint64_t{value};
    } else if constexpr (std::signed_integral<T>) {
      return std::int64_t{value};
    } else {
      return value;
    }
  }
  template <class T>
  static Content content_of(const std::vector<T>& list) {
    return List(list.begin(), list.end());
  }
  template <class T>
  static Content content_of(const std::optional<T>& value) {
    return value ? content_of(*value) : Nothing();
  }

  Content content_;
};

struct ReportField {
  std::string name;  ///< name in JSON; empty: the field is in text only
  ReportValue value;
  std::string title{};  ///< column heading or label in text; empty: the field is in JSON only
  std::string text{};   ///< text to show instead of the formatted value; empty: none
};

/// Returns a list with the result of `make` for each item. `make` returns a report or a value.
template <class Items, class Make>
ReportValue list_of(const Items& items, Make make) {
  std::vector<ReportValue> list;
  for (const auto& item : items) list.emplace_back(make(item));
  return list;
}

/// Returns a value with the text or, if the text is empty, an empty value, which JSON output omits.
inline ReportValue unless_empty(const std::string& text) {
  return text.empty() ? ReportValue() : ReportValue(text);
}
/// Returns the value; if the value is empty, returns a value that JSON output writes as null
/// instead of omitting it.
inline ReportValue or_null(ReportValue value) {
  return std::holds_alternative<ReportValue::Nothing>(value.content()) ? ReportValue(nullptr)
                                                                       : value;
}

/// Formats a value for text: "12.3 ms", "102 MB", "8".
/// REQUIRES: the value is neither a report nor a list.
std::string shown(const ReportValue& value);
/// Formats a field for text.
inline std::string shown(const ReportField& field) {
  return field.text.empty() ? shown(field.value) : field.text;
}

/// Returns the report as a JSON object, followed by a line break.
std::string to_json(const Report& report);

}  // namespace tutti::core
