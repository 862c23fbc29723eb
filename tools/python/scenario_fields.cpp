#include "tools/python/scenario_fields.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/quantity.h"
#include "core/edit/field_edits.h"
#include "core/edit/old_form_text.h"
#include "core/edit/scenario_text.h"

namespace tutti::python {
namespace {

using core::Error;
using core::Expected;
using core::FieldPath;
using core::FieldType;
using core::ProblemCode;

const core::Schema& schema() {
  static const core::Schema scenario = core::Schema::scenario();
  return scenario;
}

tl::unexpected<Error> wrong(ProblemCode code, const std::string& path, const std::string& text) {
  return tl::make_unexpected(Error::request({code, path}, text));
}

/// A parsed path of a field. `indexed` is true if the path ends with an index, as in "workers[1]".
struct ParsedPath {
  FieldPath path;
  bool indexed = false;
};

Expected<ParsedPath> parse_path(const std::string& written) {
  ParsedPath parsed;
  for (std::size_t at = 0; at < written.size();) {
    const std::size_t end = std::min(written.find('.', at), written.size());
    std::string step = written.substr(at, end - at);
    at = end + 1;
    int index = 0;
    const std::size_t bracket = step.find('[');
    parsed.indexed = bracket != std::string::npos;
    if (parsed.indexed) {
      const char* const last = step.data() + step.size() - 1;
      const auto [stopped, status] = std::from_chars(step.data() + bracket + 1, last, index);
      if (status != std::errc() || stopped != last || *last != ']' || index < 0)
        return wrong(ProblemCode::kSyntax, written,
                     fmt::format("{}: expected an index of at least 0 in brackets", written));
      step.resize(bracket);
    }
    parsed.path.push_back({std::move(step), index});
  }
  return parsed;
}

/// Returns the type of the field at the end of a path. ERRORS: there is no such field.
Expected<const FieldType*> type_of(const FieldPath& path) {
  const core::MessageType* message = &schema().root();
  const FieldType* field = nullptr;
  for (const core::PathStep& step : path) {
    if (message == nullptr)
      return wrong(ProblemCode::kUnknownField, to_string(path),
                   fmt::format("{} is a single value, so it has no fields", field->name));
    field = message->find(step.field);
    if (field == nullptr) {
      std::vector<std::string> names;
      for (const FieldType& known : message->fields) names.push_back(known.name);
      const std::string hint = core::did_you_mean(step.field, names);
      return wrong(
          ProblemCode::kUnknownField, to_string(path),
          fmt::format(
              "{} has no field {}{}", message->name, step.field,
              hint.empty() ? fmt::format("; its fields are {}", fmt::join(names, ", ")) : hint));
    }
    message = field->message;
  }
  return field;
}

const char* kind_name(FieldType::Kind kind) {
  switch (kind) {
    case FieldType::Kind::kText: return "text";
    case FieldType::Kind::kWhole: return "whole";
    case FieldType::Kind::kNumber: return "number";
    case FieldType::Kind::kYesNo: return "bool";
    case FieldType::Kind::kChoice: return "choice";
    case FieldType::Kind::kMessage: return "message";
  }
  return "";
}

}  // namespace

Expected<FieldState> field_state(const std::string& text, const std::string& path) {
  auto parsed = parse_path(path);
  if (!parsed) return tl::make_unexpected(parsed.error());
  const core::ScenarioText scenario(text, schema());
  const FieldPath present = core::present_path(parsed->path, &scenario);
  const auto type = type_of(present);
  if (!type) return tl::make_unexpected(type.error());
  FieldState state;
  const core::MessageType* message = &schema().root();
  if (const FieldType* const field = *type) {
    state.kind = kind_name(field->kind);
    state.repeated = field->repeated && !parsed->indexed;
    state.count = scenario.count(present);
    state.written = scenario.find(present) != nullptr;
    state.value = scenario.value(present);
    // Text that merely looks like a number with a unit, such as a name, stays text.
    const bool number =
        field->kind == FieldType::Kind::kWhole || field->kind == FieldType::Kind::kNumber;
    if (const auto converted = core::in_unit_of(field->name, state.value); number && converted)
      state.converted = *converted;
    state.help = field->help;
    state.otherwise = field->otherwise;
    state.unit = field->unit;
    for (const FieldType::Choice& choice : field->choices) state.choices.push_back(choice.name);
    message = field->message;
  } else {
    state.kind = "message";
    state.written = true;
  }
  if (message != nullptr) {
    for (const FieldType& field : message->fields) state.fields.push_back(field.name);
  }
  return state;
}

Expected<std::string> with_field(const std::string& text, const std::string& path,
                                 const std::string& value) {
  auto parsed = parse_path(path);
  if (!parsed) return tl::make_unexpected(parsed.error());
  auto converted = core::convert_text(text);
  const core::ScenarioText scenario(converted ? converted->text : text, schema());
  const FieldPath present = core::present_path(parsed->path, &scenario);
  if (const auto type = type_of(present); !type) return tl::make_unexpected(type.error());
  if (value.empty() && scenario.find(present) == nullptr) return scenario.text();
  auto edits = core::set_field(scenario, present, value);
  if (!edits) return tl::make_unexpected(edits.error());
  return core::with_edits(scenario.text(), *edits);
}

}  // namespace tutti::python
