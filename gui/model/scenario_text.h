#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/text/document.h"
#include "gui/model/schema.h"
#include "gui/model/text_places.h"

namespace tutti::gui {

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
  [[nodiscard]] const std::optional<core::Error>& broken() const { return broken_; }

  /// Null if the schema has no such field.
  [[nodiscard]] const FieldType* type(const FieldPath& path) const;
  /// What is written there; null if nothing is.
  [[nodiscard]] const core::Value* find(const FieldPath& path) const;
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
  [[nodiscard]] Range range(const core::Value& value) const;

  /// A value with what it stands in.
  struct Place {
    const core::Value* message = nullptr;       ///< that has the field
    const core::Value::Field* field = nullptr;  ///< that is written
    const core::Value* value = nullptr;         ///< field->value, or an item of its list
    std::size_t item = 0;                       ///< its index in the list, if it is one
    [[nodiscard]] bool in_list() const { return value != &field->value; }
  };
  [[nodiscard]] std::optional<Place> place(const FieldPath& path) const;
  /// Every value of a field that is written in `message`, in the order of the text.
  [[nodiscard]] static std::vector<Place> all(const core::Value& message, const FieldType& field);
  [[nodiscard]] const core::Value& root() const { return document_.root; }

 private:
  void descend(const core::Value& message, const MessageType& type, std::size_t offset, FieldPath& path) const;

  std::string text_;
  Schema schema_;
  TextPlaces places_;
  core::Document document_;
  std::optional<core::Error> broken_;
};

}  // namespace tutti::gui
