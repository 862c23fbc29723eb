#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// RapidJSON 1.1.0 adds to null pointers before its stack holds anything (mended in its master), which sanitizers find.
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("pointer-overflow"))), apply_to = function)
#endif
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>
#ifdef __clang__
#pragma clang attribute pop
#endif

#include "core/base/units.h"

namespace tutti::tools {

/// Writes JSON in the order in which it is told. Times are microseconds; a picosecond is their sixth decimal.
class Json {
 public:
  Json() : writer_(buffer_) { writer_.SetIndent(' ', 1); }

  /// `{ … }` and `[ … ]` around what `body` writes.
  template <class Body>
  Json& object(Body body) {
    writer_.StartObject();
    body();
    writer_.EndObject();
    return *this;
  }
  template <class List, class Body>
  Json& array(const List& list, Body body) {
    writer_.StartArray();
    for (const auto& item : list) body(item);
    writer_.EndArray();
    return *this;
  }

  Json& key(std::string_view name) {
    writer_.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
    return *this;
  }
  void value(std::string_view text) { writer_.String(text.data(), static_cast<rapidjson::SizeType>(text.size())); }
  void value(const char* text) { value(std::string_view(text)); }
  void value(std::int64_t number) { writer_.Int64(number); }
  void value(std::int32_t number) { writer_.Int(number); }
  void value(std::uint64_t number) { writer_.Uint64(number); }
  void value(double number) { writer_.Double(number); }
  void value(bool yes) { writer_.Bool(yes); }
  void value(core::Time time) { writer_.Double(core::to_us(time)); }
  void value(core::Bytes bytes) { writer_.Int64(bytes.count()); }
  void null() { writer_.Null(); }

  template <class T>
  void field(std::string_view name, const T& content) {
    key(name).value(content);
  }

  [[nodiscard]] std::string text() const { return std::string(buffer_.GetString(), buffer_.GetSize()) + "\n"; }

 private:
  rapidjson::StringBuffer buffer_;
  rapidjson::PrettyWriter<rapidjson::StringBuffer> writer_;
};

}  // namespace tutti::tools
