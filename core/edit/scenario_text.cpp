#include "core/edit/scenario_text.h"

#include <algorithm>
#include <utility>

namespace tutti::core {

std::string to_string(const FieldPath& path) {
  std::string text;
  for (const PathStep& step : path) {
    text += (text.empty() ? "" : ".") + step.field;
    if (step.index > 0) text += "[" + std::to_string(step.index) + "]";
  }
  return text;
}

namespace {

/// True if the value is JSON's null, which means that the field is not set.
bool is_null(const Value& value) {
  return value.kind == Value::Kind::kIdentifier && value.text == "null";
}

bool names(const std::string& written, const FieldType& field) {
  return written == field.name || written == field.other_name;
}

}  // namespace

ScenarioText::ScenarioText(std::string text, const Schema& schema)
    : text_(std::move(text)), schema_(schema), places_(text_) {
  Problems problems;
  document_ = parse_document(text_, "", problems);
  if (!problems.empty()) broken_ = problems.take().value();
}

const FieldType* ScenarioText::type(const FieldPath& path) const {
  const MessageType* message = &schema_.root();
  const FieldType* field = nullptr;
  for (const PathStep& step : path) {
    field = message ? message->find(step.field) : nullptr;
    if (!field) return nullptr;
    message = field->message;
  }
  return field;
}

std::vector<ScenarioText::Entry> ScenarioText::all(const Value& message, const FieldType& field) {
  std::vector<Entry> found;
  for (const Value::Field& written : message.fields) {
    if (!names(written.name, field) || is_null(written.value)) continue;
    if (field.repeated && written.value.kind == Value::Kind::kList) {
      for (std::size_t i = 0; i < written.value.items.size(); ++i)
        found.push_back({&message, &written, &written.value.items[i], i});
    } else {
      found.push_back({&message, &written, &written.value, 0});
      if (!field.repeated) break;
    }
  }
  return found;
}

std::optional<ScenarioText::Entry> ScenarioText::place(const FieldPath& path) const {
  const MessageType* type = &schema_.root();
  const Value* message = &document_.root;
  std::optional<Entry> found;
  for (const PathStep& step : path) {
    const FieldType* const field = type ? type->find(step.field) : nullptr;
    if (!field || message->kind != Value::Kind::kMessage || step.index < 0) return std::nullopt;
    const std::vector<Entry> places = all(*message, *field);
    if (static_cast<std::size_t>(step.index) >= places.size()) return std::nullopt;
    found = places[step.index];
    message = found->value;
    type = field->message;
  }
  return found;
}

const Value* ScenarioText::find(const FieldPath& path) const {
  if (path.empty()) return &document_.root;
  const auto found = place(path);
  return found ? found->value : nullptr;
}

int ScenarioText::count(const FieldPath& path) const {
  const FieldType* const field = type(path);
  const Value* const message = field ? find(FieldPath(path.begin(), path.end() - 1)) : nullptr;
  return message ? static_cast<int>(all(*message, *field).size()) : 0;
}

std::string ScenarioText::value(const FieldPath& path) const {
  const Value* const found = find(path);
  if (!found) return "";
  if (found->kind != Value::Kind::kMessage && found->kind != Value::Kind::kList) return found->text;
  const FieldType* const field = type(path);
  if (!field || field->kind == FieldType::Kind::kMessage) return "";
  const Range covered = range(*found);
  return text_.substr(covered.from, covered.to - covered.from);
}

ScenarioText::Range ScenarioText::range(const Value& value) const {
  const std::size_t from = places_.offset(value.at);
  return {from, std::max(from, places_.offset(value.end))};
}

FieldPath ScenarioText::path_at(std::size_t offset) const {
  FieldPath path;
  descend(document_.root, schema_.root(), offset, path);
  return path;
}

void ScenarioText::descend(const Value& message, const MessageType& type, std::size_t offset,
                           FieldPath& path) const {
  for (const FieldType& field : type.fields) {
    int index = 0;
    for (const Value::Field& written : message.fields) {
      if (!names(written.name, field) || is_null(written.value)) continue;
      const bool list = field.repeated && written.value.kind == Value::Kind::kList;
      const int elements = list ? static_cast<int>(written.value.items.size()) : 1;
      if (offset >= places_.offset(written.at) && offset <= range(written.value).to) {
        const Value* inner = &written.value;
        for (int i = 0; list && i < elements; ++i) {
          const Value& item = written.value.items[i];
          if (offset < range(item).from) break;
          inner = &item;
          if (i > 0) ++index;
        }
        path.push_back({field.name, field.repeated ? index : 0});
        if (field.message && inner->kind == Value::Kind::kMessage)
          descend(*inner, *field.message, offset, path);
        return;
      }
      index += elements;
    }
  }
}

}  // namespace tutti::core
