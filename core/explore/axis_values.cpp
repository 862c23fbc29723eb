// The values of an axis are texts, because they are inserted into a scenario as if the user had
// typed them. A plain number therefore keeps the digits that the user wrote. Only the values of
// ranges and sizes with units are computed as doubles and then printed. Whole numbers above 2^53,
// which a double cannot represent exactly, are rejected. The number of values of a range is
// computed first, so that a range with too many values is rejected before any value is generated.
// Value i is computed from the start of the range and from i, and not from value i - 1, so that
// rounding errors do not accumulate. axis.cpp parses the names of the fields.

#include "core/explore/axis_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/quantity.h"
#include "core/explore/axis.h"

namespace tutti::core {
namespace {

using Values = tl::expected<std::vector<std::string>, AxisProblem>;
using Kind = FieldType::Kind;

/// Doubles are exact for whole numbers up to this limit.
constexpr double kMaxWhole = 9007199254740992.0;

tl::unexpected<AxisProblem> wrong(ProblemCode code, std::string text) {
  return tl::make_unexpected(AxisProblem{code, std::move(text)});
}
tl::unexpected<AxisProblem> wrong(AxisProblem problem) {
  return tl::make_unexpected(std::move(problem));
}

/// Parses a number. The number may have a unit if the field's values may be written with units.
tl::expected<double, AxisProblem> number(const FieldType& field, const std::string& written) {
  const std::string text = without_space(written);
  const auto converted = in_unit_of(field.name, text);
  if (!converted) return wrong(ProblemCode::kConflict, converted.error());
  double value = 0;
  if (*converted) {
    value = **converted;
    if (field.kind == Kind::kWhole && std::abs(value) > kMaxWhole)
      return wrong(ProblemCode::kTooLarge, fmt::format("\"{}\" is too large", text));
    return value;
  }
  const char* const end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc() || stop != end || !std::isfinite(value))
    return wrong(ProblemCode::kWrongType,
                 fmt::format("\"{}\" is not a number{}", text, quantity_hint(field.name, text)));
  if (field.kind == Kind::kWhole && std::abs(value) > kMaxWhole)
    return wrong(ProblemCode::kTooLarge, fmt::format("\"{}\" is too large", text));
  return value;
}

std::string typed(const FieldType& field, double value) {
  return field.kind == Kind::kWhole
             ? fmt::format("{}", static_cast<std::int64_t>(std::llround(value)))
             : fmt::format("{}", value);
}

/// A range such as "64KiB..256MiB*2".
struct Range {
  std::string from, to, step;
  bool geometric = false;
};

std::optional<Range> split_range(const std::string& item) {
  const std::size_t dots = item.find("..");
  if (dots == std::string::npos) return std::nullopt;
  Range range{item.substr(0, dots), item.substr(dots + 2), "", false};
  // Find the operator. A '+' after an 'e' is not an operator but part of a number, as in 1e+9. The
  // first character is never an operator.
  for (std::size_t i = 1; i < range.to.size(); ++i) {
    if (range.to[i] != '*' &&
        (range.to[i] != '+' || range.to[i - 1] == 'e' || range.to[i - 1] == 'E'))
      continue;
    range.geometric = range.to[i] == '*';
    range.step = range.to.substr(i + 1);
    range.to.resize(i);
    return range;
  }
  return range;
}

Values range_values(const FieldType& field, const std::string& item, const Range& range,
                    std::int64_t max_values) {
  if (range.to.starts_with('.'))
    return wrong(ProblemCode::kSyntax,
                 fmt::format("\"{}\": a range has two dots, as in 1..8*2", item));
  const auto from = number(field, range.from);
  if (!from) return wrong(from.error());
  const auto to = number(field, range.to);
  if (!to) return wrong(to.error());
  if (range.step.empty()) {
    return wrong(
        ProblemCode::kSyntax,
        fmt::format(
            "the range \"{0}\" has no step; write {0}*2 to double each value, or {0}+1 to add 1",
            item));
  }
  FieldType plain;  // factors are numbers without a unit
  plain.kind = Kind::kNumber;
  const auto step = range.geometric ? number(plain, range.step) : number(field, range.step);
  if (!step) return wrong(step.error());
  if (*to < *from)
    return wrong(ProblemCode::kTooSmall,
                 fmt::format("\"{}\": the end of the range is below its start", item));
  if (range.geometric ? !(*step > 1 && *from > 0) : !(*step > 0))
    return wrong(ProblemCode::kInvalid,
                 fmt::format("\"{}\": the range never reaches its end; {}", item,
                             range.geometric ? "use a start above 0 and a factor above 1"
                                             : "use a step above 0"));
  const double most =
      range.geometric ? std::log(*to / *from) / std::log(*step) : (*to - *from) / *step;
  if (most >= static_cast<double>(max_values))
    return wrong(ProblemCode::kTooLarge,
                 fmt::format("\"{}\" has more than {} values", item, max_values));
  std::vector<std::string> values;
  // The tolerance ensures that the end of the range is included despite rounding errors.
  for (std::int64_t i = 0; i <= static_cast<std::int64_t>(most + 1e-9); ++i) {
    const auto steps = static_cast<double>(i);
    const double value = range.geometric ? *from * std::pow(*step, steps) : *from + *step * steps;
    values.push_back(typed(field, std::min(value, *to)));
  }
  return values;
}

/// Splits the text at commas that are outside quotes. Returns the items, each with a flag that is
/// true if the item was in quotes.
tl::expected<std::vector<std::pair<std::string, bool>>, AxisProblem> items_of(
    const std::string& written) {
  std::vector<std::pair<std::string, bool>> items(1);
  bool quoted = false;
  for (const char c : written) {
    if (c == '"') {
      quoted = !quoted;
      items.back().second = true;
    } else if (c == ',' && !quoted) {
      items.emplace_back();
    } else {
      items.back().first += c;
    }
  }
  if (quoted)
    return wrong(ProblemCode::kSyntax, fmt::format("a quote in {} is not closed", written));
  for (auto& [item, in_quotes] : items) {  // "1MiB, 2MiB"
    if (in_quotes) continue;
    const std::size_t first = std::min(item.find_first_not_of(' '), item.size());
    item = item.substr(first, item.find_last_not_of(' ') + 1 - first);
  }
  return items;
}

}  // namespace

tl::expected<std::string, AxisProblem> axis_value(const FieldType& field,
                                                  const std::string& written) {
  if (written.empty()) return written;
  switch (field.kind) {
    case Kind::kWhole:
    case Kind::kNumber: {
      // Keep the digits as written, because a double cannot hold all numbers exactly.
      const bool plain = written.find_first_not_of("-0123456789") == std::string::npos;
      const auto value = number(field, written);
      if (!value) return wrong(value.error());
      if (field.kind == Kind::kWhole && *value != std::floor(*value))
        return wrong(ProblemCode::kWrongType,
                     fmt::format("\"{}\": {} is a whole number", written, field.name));
      return plain ? written : typed(field, *value);
    }
    case Kind::kYesNo:
      if (written == "true" || written == "false") return written;
      return wrong(ProblemCode::kWrongType,
                   fmt::format("\"{}\": {} must be true or false", written, field.name));
    case Kind::kChoice: {
      std::vector<std::string> names;
      for (const FieldType::Choice& choice : field.choices) names.push_back(choice.name);
      if (std::find(names.begin(), names.end(), written) != names.end()) return written;
      return wrong(ProblemCode::kUnknownName,
                   fmt::format("\"{}\": {} is one of {}{}", written, field.name,
                               fmt::join(names, ", "), did_you_mean(written, names)));
    }
    case Kind::kMessage:
    case Kind::kText: return written;
  }
  return written;
}

Values axis_values(const FieldType& field, const std::string& written, std::int64_t most) {
  const auto items = items_of(written);
  if (!items) return wrong(items.error());
  std::vector<std::string> values;
  std::set<std::string> seen;
  const bool ranges = field.kind == Kind::kWhole || field.kind == Kind::kNumber;
  for (const auto& [item, quoted] : *items) {
    const auto range = ranges && !quoted ? split_range(item) : std::nullopt;
    Values some;
    if (range) {
      some = range_values(field, item, *range, most);
      if (!some) return some;
    } else {
      const auto one = axis_value(field, item);
      if (!one) return wrong(one.error());
      some = std::vector{*one};
    }
    for (std::string& value : *some) {
      if (seen.insert(value).second) values.push_back(std::move(value));
    }
    if (std::ssize(values) > most)
      return wrong(ProblemCode::kTooLarge, fmt::format("more than {} values", most));
  }
  return values;
}

}  // namespace tutti::core
