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

/// A share of a whole: text shows 0.123 as "12.3 %", JSON has the number.
struct Fraction {
  double of_whole = 0;
};

/// Named values in the order in which they are written. Text, JSON and the GUI write the same
/// report: JSON has the values with a name, text those with a title.
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

/// A value with its unit. JSON writes times in microseconds (with six decimals, down to a
/// picosecond) and rates in GB/s, and the field names say so; text picks a suitable unit. An empty
/// optional is left out of JSON.
class ReportValue {
 public:
  using List = std::vector<ReportValue>;
  struct Nothing {};
  using Content = std::variant<Nothing, std::nullptr_t, bool, std::int64_t, std::uint64_t, double,
                               std::string, Time, Bytes, Bandwidth, Fraction, Report, List>;

  ReportValue() = default;
  /// Makes a value of a number, a text, a quantity, a report, a list of such values, or an optional
  /// one.
  template <class T>
  requires(!std::same_as<T, ReportValue>) ReportValue(const T& value)
      : content_(content_of(value)) {}

  [[nodiscard]] const Content& content() const { return content_; }

 private:
  template <class T>
  static Content content_of(const T& value) {
    // A null pointer would be a text, too.
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
  std::string name;  ///< name in JSON; empty: the field is only in text
  ReportValue value;
  std::string title{};  ///< heading of a table's column, or label, in text; empty: the field is
                        ///< only in JSON
  std::string text{};   ///< shown in text instead of the value with its unit
};

/// Returns a list with the report or value of each item.
template <class Items, class Make>
ReportValue list_of(const Items& items, Make make) {
  std::vector<ReportValue> list;
  for (const auto& item : items) list.emplace_back(make(item));
  return list;
}

/// Returns no value if the text is empty, so that JSON omits the field.
inline ReportValue unless_empty(const std::string& text) {
  return text.empty() ? ReportValue() : ReportValue(text);
}
/// Returns the value; JSON gets null if there is none.
inline ReportValue or_null(ReportValue value) {
  return std::holds_alternative<ReportValue::Nothing>(value.content()) ? ReportValue(nullptr)
                                                                       : value;
}

/// Returns the value as text shows it: "12.3 ms", "102 MB", "8". REQUIRES: neither a report nor a
/// list.
std::string shown(const ReportValue& value);
/// Returns the field as text shows it.
inline std::string shown(const ReportField& field) {
  return field.text.empty() ? shown(field.value) : field.text;
}

/// Returns the report as one JSON object, with a line break at its end.
std::string to_json(const Report& report);

}  // namespace tutti::core
