#pragma once

// Access to the JSON fields of an execution plan. Each function reports a problem, with the
// position in the file, if a field is missing or has a wrong type or value, and then returns a
// value with which the reader can go on.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/custom/mscclpp/plan.h"

namespace tutti::core::custom {

using JsonValue = tutti::core::Value;  // not the value of an expression (values.h)

constexpr std::int64_t kMaxPlanChunks = std::int64_t{1} << 30;
constexpr std::size_t kMaxPlanBlocks = 1024;

enum class ChannelKind : std::uint8_t { kNone, kMemory, kPort, kSwitch };

class PlanFields {
 public:
  PlanFields(std::string file, Problems& problems) : file_(std::move(file)), problems_(problems) {}

 protected:
  template <class... Args>
  void add(ProblemCode code, const char* field, Position at, fmt::format_string<Args...> format,
           Args&&... args) {
    problems_.add({code, field}, {file_, at.line, at.column}, format, std::forward<Args>(args)...);
  }

  /// Returns the field `name`; null if it is missing, given twice, or not of this kind.
  const JsonValue* find(const JsonValue& of, std::string_view name, JsonValue::Kind kind,
                        bool required);
  /// Returns the whole number in the field `name`. If the field is absent, returns `missing`; if
  /// `missing` is nullopt, reports a problem.
  std::int64_t number(const JsonValue& of, std::string_view name, std::int64_t least,
                      std::int64_t most, std::optional<std::int64_t> missing = std::nullopt);
  std::int64_t whole(const JsonValue& value, std::string_view name, std::int64_t least,
                     std::int64_t most);
  std::string text(const JsonValue& of, std::string_view name, bool required = true);
  bool flag(const JsonValue& of, std::string_view name, bool required = false);
  const std::vector<JsonValue>& list(const JsonValue& of, std::string_view name,
                                     bool required = true);
  /// True if the value is an object. Otherwise, reports a problem; `what` is the name of the list
  /// that contains the value.
  bool message(const JsonValue& value, const char* what);
  /// Reads a list of indices, each of which must be less than `have`.
  void read_numbers(const JsonValue& of, const char* field, std::size_t have,
                    std::vector<int>& into);

  PlanMemory memory(const JsonValue& of, std::string_view field);
  std::optional<ChannelKind> channel_kind(const std::string& name, Position at);

  template <std::size_t n>
  void refuse_unknown(const JsonValue& of, const std::array<const char*, n>& known) {
    for (const JsonValue::Field& field : of.fields) {
      if (std::find(known.begin(), known.end(), field.name) == known.end())
        add(ProblemCode::kUnknownField, field.name.c_str(), field.at,
            "\"{}\" is not a known field of this object", field.name);
    }
  }

  std::string file_;
  Problems& problems_;
};

}  // namespace tutti::core::custom
