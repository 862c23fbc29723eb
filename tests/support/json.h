#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/text/document.h"

namespace tutti::test {

/// JSON test data with access by key. A missing key throws, which fails the test.
class Data {
 public:
  explicit Data(const core::Value& value) : value_(&value) {}

  [[nodiscard]] bool has(const std::string& key) const {
    for (const auto& field : value_->fields) {
      if (field.name == key) return true;
    }
    return false;
  }
  [[nodiscard]] Data operator[](const std::string& key) const {
    for (const auto& field : value_->fields) {
      if (field.name == key) return Data(field.value);
    }
    throw std::out_of_range("no key " + key);
  }
  [[nodiscard]] std::vector<Data> items() const {
    std::vector<Data> list;
    for (const core::Value& item : value_->items) list.emplace_back(item);
    return list;
  }
  [[nodiscard]] const std::string& text() const { return value_->text; }
  [[nodiscard]] bool is_list() const { return value_->kind == core::Value::Kind::kList; }
  [[nodiscard]] bool is_null() const {
    return value_->kind == core::Value::Kind::kIdentifier && value_->text == "null";
  }
  [[nodiscard]] std::int64_t number() const { return std::stoll(value_->text); }
  [[nodiscard]] double real() const { return std::stod(value_->text); }
  /// Returns the value of the document.
  [[nodiscard]] const core::Value& value() const { return *value_; }
  [[nodiscard]] std::vector<std::int64_t> numbers() const {
    std::vector<std::int64_t> list;
    for (const Data& item : items()) list.push_back(item.number());
    return list;
  }
  [[nodiscard]] std::vector<int> ints() const {
    const std::vector<std::int64_t> list = numbers();
    return {list.begin(), list.end()};
  }

 private:
  const core::Value* value_;
};

/// Parses a JSON text. Throws if the text is invalid.
core::Value parse_or_throw(const std::string& text, const std::string& name);
/// Returns the content of a JSON file in tests/data.
core::Value load_data(const std::string& name);

}  // namespace tutti::test
