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

/// The positions of the fields of a text, by path: "strategy.byteps.partition_bytes",
/// "conditions.slow[1].worker". Stages that work on values instead of messages report problems at
/// these positions.
class Places {
 public:
  Places() = default;
  explicit Places(std::string file) : file_(std::move(file)) {}
  /// Returns the positions of the fields of a document, whose message type is `type`. Fields that
  /// the type does not have are stored under the names by which they were written.
  static Places of(const Value& document, const google::protobuf::Descriptor& type,
                   const std::string& file);

  /// Adds a position, unless the path already has one.
  void add(const std::string& path, Position at) { places_.try_emplace(path, at); }

  [[nodiscard]] bool has(std::string_view path) const { return places_.contains(path); }
  /// Returns the location of the field's value. If the field was not written, returns the location
  /// of the innermost enclosing message that was written. The path "" is the whole text.
  [[nodiscard]] Location at(std::string_view path) const;
  /// Returns the subject of problems at `path` in the form of the schema: "Strategy.shards"; for
  /// the path "", "Scenario". If the schema does not have the path, returns it unchanged.
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
  /// Returns `value` if it is from `least` to `most`. If `value` is out of range, reports the same
  /// problem as Fields::integer(), with the last part of `path` as the field, and returns nullopt.
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
