#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/text/document.h"

namespace google::protobuf {
class Descriptor;
}

namespace tutti::core {

/// The position of each field of a text, by its path: "strategy.byteps.partition_bytes",
/// "conditions.slow[1].worker". Later stages, which work on values instead of messages, report
/// problems at these positions.
class Places {
 public:
  Places() = default;
  explicit Places(std::string file) : file_(std::move(file)) {}
  /// Returns the positions of the fields of a text of message type `type`. Fields that the type
  /// does not have keep the names by which they were written.
  static Places of(const Value& document, const google::protobuf::Descriptor& type,
                   const std::string& file);

  /// Adds a position; if the path has one already, that one is kept.
  void add(const std::string& path, Position at) { places_.try_emplace(path, at); }

  [[nodiscard]] bool has(std::string_view path) const { return places_.contains(path); }
  /// Returns the location of the field's value; if it was not written, that of the nearest
  /// enclosing message that was. The path "" is the text as a whole.
  [[nodiscard]] Location at(std::string_view path) const;
  /// Returns the subject of problems at `path` as the schema names it: "Strategy.shards",
  /// "Scenario" for "". A path that the schema does not have is returned unchanged.
  [[nodiscard]] std::string schema_name(std::string_view path) const;

 private:
  std::string file_;
  const google::protobuf::Descriptor* type_ = nullptr;
  std::map<std::string, Position, std::less<>> places_;
};

/// Reports problems with values that were read from a text, at the positions of their fields.
class Complaints {
 public:
  Complaints(const Places& places, Problems& problems) : places_(places), problems_(problems) {}

  template <class... Args>
  void complain_at(std::string_view path, fmt::format_string<Args...> format, Args&&... args) {
    complain_at(path, ProblemCode::kInvalid, format, std::forward<Args>(args)...);
  }
  template <class... Args>
  void complain_at(std::string_view path, ProblemCode code, fmt::format_string<Args...> format,
                   Args&&... args) {
    problems_.add({code, places_.schema_name(path)}, places_.at(path), format,
                  std::forward<Args>(args)...);
  }
  /// Returns `value` if it lies in the range; otherwise nullopt, and a problem worded like those of
  /// Fields::integer(), with the last part of `path` as the field.
  std::optional<std::int64_t> in_range(std::string_view path, std::string_view what,
                                       std::int64_t value, std::int64_t least, std::int64_t most);

  /// True if the field was written.
  [[nodiscard]] bool has(std::string_view path) const { return places_.has(path); }
  [[nodiscard]] const Problems& problems() const { return problems_; }

 private:
  const Places& places_;
  Problems& problems_;
};

}  // namespace tutti::core
