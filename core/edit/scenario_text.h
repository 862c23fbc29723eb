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

/// A step of a path: a field of a message or, if the field is repeated, its element `index`.
struct PathStep {
  std::string field;
  int index = 0;
  auto operator<=>(const PathStep&) const = default;
};
/// The path from the root of the scenario to a field. An empty path is the scenario itself.
using FieldPath = std::vector<PathStep>;

/// Formats a path: "cluster.workers[1].count".
std::string to_string(const FieldPath& path);

/// A scenario's text (Protocol Buffers text format or JSON) as it was written. The class finds the
/// position and the value of each field of the schema that is written in the text.
class ScenarioText {
 public:
  /// Cost: parses the text once.
  ScenarioText(std::string text, const Schema& schema);
  ScenarioText(const ScenarioText&) = delete;
  ScenarioText& operator=(const ScenarioText&) = delete;

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const Schema& schema() const { return schema_; }
  [[nodiscard]] const TextPlaces& places() const { return places_; }
  [[nodiscard]] bool json() const { return places_.json(); }
  /// The reason why the text cannot be parsed, such as unbalanced brackets; nullopt if the text can
  /// be parsed. Even if there is an error, the fields that were parsed are accessible.
  [[nodiscard]] const std::optional<Error>& broken() const { return broken_; }

  /// Returns the type of a field; null if the schema has no such field.
  [[nodiscard]] const FieldType* type(const FieldPath& path) const;
  /// Returns the value of a field; null if the field is not written.
  [[nodiscard]] const Value* find(const FieldPath& path) const;
  /// Returns the number of elements of the repeated field at the end of the path. For a field that
  /// is not repeated, returns 1 if the field is written, otherwise 0.
  [[nodiscard]] int count(const FieldPath& path) const;
  /// Returns the value of a field as it is written in the text; for a string, the quotes are
  /// removed. Returns "" if the field is not written or is a message.
  [[nodiscard]] std::string value(const FieldPath& path) const;

  /// Returns the path of the innermost field that contains the byte at `offset`. Fields that the
  /// schema does not define are ignored.
  [[nodiscard]] FieldPath path_at(std::size_t offset) const;

  struct Range {
    std::size_t from = 0;
    std::size_t to = 0;
  };
  /// Returns the range of bytes of a value.
  [[nodiscard]] Range range(const Value& value) const;

  /// A value in the text, with the field and the message that contain it.
  struct Entry {
    const Value* message = nullptr;       ///< the message that contains the field
    const Value::Field* field = nullptr;  ///< the field in the text
    const Value* value = nullptr;         ///< `field->value`, or an item of this list
    std::size_t item = 0;                 ///< index in the list, if `value` is an item of a list
    [[nodiscard]] bool in_list() const { return value != &field->value; }
  };
  [[nodiscard]] std::optional<Entry> place(const FieldPath& path) const;
  /// Returns all values of a field in `message`, in the order of the text.
  [[nodiscard]] static std::vector<Entry> all(const Value& message, const FieldType& field);
  [[nodiscard]] const Value& root() const { return document_.root; }

 private:
  void descend(const Value& message, const MessageType& type, std::size_t offset,
               FieldPath& path) const;

  std::string text_;
  Schema schema_;
  TextPlaces places_;
  Document document_;
  std::optional<Error> broken_;
};

}  // namespace tutti::core
