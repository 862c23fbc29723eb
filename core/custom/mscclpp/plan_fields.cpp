#include "core/custom/mscclpp/plan_fields.h"

#include <charconv>

namespace tutti::core::custom {

const JsonValue* PlanFields::find(const JsonValue& of, std::string_view name, JsonValue::Kind kind,
                                  bool required) {
  const JsonValue* found = nullptr;
  for (const JsonValue::Field& field : of.fields) {
    if (field.name != name) continue;
    if (found != nullptr) {
      add(ProblemCode::kDuplicate, field.name.c_str(), field.at, "\"{}\" is given twice", name);
      return nullptr;
    }
    found = &field.value;
  }
  const std::string field(name);
  if (found == nullptr) {
    if (required) add(ProblemCode::kMissing, field.c_str(), of.at, "\"{}\" is missing", name);
    return nullptr;
  }
  if (found->kind == kind) return found;
  add(ProblemCode::kWrongType, field.c_str(), found->at, "\"{}\" is {}", name, describe(*found));
  return nullptr;
}

std::int64_t PlanFields::number(const JsonValue& of, std::string_view name, std::int64_t least,
                                std::int64_t most, std::optional<std::int64_t> missing) {
  const JsonValue* value = find(of, name, JsonValue::Kind::kNumber, !missing);
  return value == nullptr ? missing.value_or(least) : whole(*value, name, least, most);
}

std::int64_t PlanFields::whole(const JsonValue& value, std::string_view name, std::int64_t least,
                               std::int64_t most) {
  std::int64_t number = 0;
  const char* end = value.text.data() + value.text.size();
  const auto [stop, error] = std::from_chars(value.text.data(), end, number);
  if (value.kind == JsonValue::Kind::kNumber && error == std::errc() && stop == end &&
      number >= least && number <= most)
    return number;
  add(ProblemCode::kInvalid, std::string(name).c_str(), value.at,
      "\"{}\" is {}: expected a whole number from {} to {}", name, describe(value), least, most);
  return least;
}

std::string PlanFields::text(const JsonValue& of, std::string_view name, bool required) {
  const JsonValue* value = find(of, name, JsonValue::Kind::kString, required);
  return value == nullptr ? "" : value->text;
}

bool PlanFields::flag(const JsonValue& of, std::string_view name, bool required) {
  const JsonValue* value = find(of, name, JsonValue::Kind::kIdentifier, required);
  if (value == nullptr) return false;
  if (value->text != "true" && value->text != "false")
    add(ProblemCode::kWrongType, std::string(name).c_str(), value->at, "\"{}\" is {}", name,
        describe(*value));
  return value->text == "true";
}

bool PlanFields::message(const JsonValue& value, const char* what) {
  if (value.kind == JsonValue::Kind::kMessage) return true;
  add(ProblemCode::kWrongType, what, value.at,
      "every item of \"{}\" must be a JSON object (found {})", what, describe(value));
  return false;
}

const std::vector<JsonValue>& PlanFields::list(const JsonValue& of, std::string_view name,
                                               bool required) {
  static const std::vector<JsonValue> kNothing;
  const JsonValue* value = find(of, name, JsonValue::Kind::kList, required);
  return value == nullptr ? kNothing : value->items;
}

PlanMemory PlanFields::memory(const JsonValue& of, std::string_view field) {
  const std::string name = text(of, field);
  if (name == "i") return PlanMemory::kInput;
  if (name == "o") return PlanMemory::kOutput;
  if (name != "s" && !name.empty())
    add(ProblemCode::kUnknownName, std::string(field).c_str(), of.at,
        "\"{}\" is \"{}\": expected i, o or s", field, name);
  return PlanMemory::kScratch;
}

std::optional<ChannelKind> PlanFields::channel_kind(const std::string& name, Position at) {
  if (name == "memory") return ChannelKind::kMemory;
  if (name == "port") return ChannelKind::kPort;
  if (name == "switch") return ChannelKind::kSwitch;
  if (name == "none") return ChannelKind::kNone;
  add(ProblemCode::kUnknownName, "channel_type", at,
      "channel type \"{}\": expected memory, port or switch", name);
  return std::nullopt;
}

void PlanFields::read_numbers(const JsonValue& of, const char* field, std::size_t have,
                              std::vector<int>& into) {
  for (const JsonValue& id : list(of, field)) {
    if (have == 0)
      return add(ProblemCode::kUnknownName, field, id.at,
                 "\"{}\" lists an index, but the list to which it refers is empty", field);
    into.push_back(static_cast<int>(whole(id, field, 0, static_cast<std::int64_t>(have) - 1)));
  }
}

}  // namespace tutti::core::custom
