#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/edit/schema.h"
#include "core/edit/text_places.h"
#include "core/text/document.h"

namespace tutti::core {

/// A field of a message; of a repeated field, its element `index`.
struct PathStep {
  std::string field;
  int index = 0;
  auto operator<=>(const PathStep&) const = default;
};
/// From the scenario to a field; empty: the scenario itself.
using FieldPath = std::vector<PathStep>;

/// "cluster.workers[1].count".
std::string to_string(const FieldPath& path);

/// A text as its author wrote it, as a form sees it: every field of the schema, whether it is written, where, and as
/// what. Protocol Buffers text format or JSON.
class ScenarioText {
 public:
  /// Cost: that of reading the text once.
  ScenarioText(std::string text, const Schema& schema);
  ScenarioText(const ScenarioText&) = delete;
  ScenarioText& operator=(const ScenarioText&) = delete;

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const Schema& schema() const { return schema_; }
  [[nodiscard]] const TextPlaces& places() const { return places_; }
  [[nodiscard]] bool json() const { return places_.json(); }
  /// What keeps the text from being read, brackets that do not match for instance. While there is something, what is found is
  /// what could be made out.
  [[nodiscard]] const std::optional<Error>& broken() const { return broken_; }

  /// Null if the schema has no such field.
  [[nodiscard]] const FieldType* type(const FieldPath& path) const;
  /// What is written there; null if nothing is.
  [[nodiscard]] const Value* find(const FieldPath& path) const;
  /// How many elements of the repeated field at the end of the path are written; of another one, 1 if it is written.
  [[nodiscard]] int count(const FieldPath& path) const;
  /// The value as it is typed: strings without quotes. Empty if it is not written, or a message.
  [[nodiscard]] std::string value(const FieldPath& path) const;

  /// The field that is written at a place, as deep as the schema knows it.
  [[nodiscard]] FieldPath path_at(std::size_t offset) const;

  struct Range {
    std::size_t from = 0;
    std::size_t to = 0;
  };
  /// What a value covers.
  [[nodiscard]] Range range(const Value& value) const;

  /// A value with what it stands in.
  struct Place {
    const Value* message = nullptr;       ///< that has the field
    const Value::Field* field = nullptr;  ///< that is written
    const Value* value = nullptr;         ///< field->value, or an item of its list
    std::size_t item = 0;                 ///< its index in the list, if it is one
    [[nodiscard]] bool in_list() const { return value != &field->value; }
  };
  [[nodiscard]] std::optional<Place> place(const FieldPath& path) const;
  /// Every value of a field that is written in `message`, in the order of the text.
  [[nodiscard]] static std::vector<Place> all(const Value& message, const FieldType& field);
  [[nodiscard]] const Value& root() const { return document_.root; }

 private:
  void descend(const Value& message, const MessageType& type, std::size_t offset, FieldPath& path) const;

  std::string text_;
  Schema schema_;
  TextPlaces places_;
  Document document_;
  std::optional<Error> broken_;
};

}  // namespace tutti::core
