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

/// The positions of the fields in a text. Each field is identified by its path:
/// "strategy.byteps.partition_bytes", "conditions.slow[1].worker". Stages of reading a scenario
/// that have no access to the Protobuf messages use this class to report problems at the right
/// positions.
class Places {
 public:
  Places() = default;
  explicit Places(std::string file) : file_(std::move(file)) {}
  /// Returns the positions of the fields of a document, whose message type is `type`. A field that
  /// the type does not define is stored under the name that the user wrote.
  static Places of(const Value& document, const google::protobuf::Descriptor& type,
                   const std::string& file);

  /// Adds a position, unless the path already has one.
  void add(const std::string& path, Position at) { places_.try_emplace(path, at); }

  [[nodiscard]] bool has(std::string_view path) const { return places_.contains(path); }
  /// Returns the location of the field's value. If the field was not written, returns the location
  /// of the innermost enclosing message that was written. The path "" is the whole text.
  [[nodiscard]] Location at(std::string_view path) const;
  /// Returns the name in the schema of the field at `path`, which is the subject of problems
  /// (ProblemKind::field): "Strategy.shards"; for the path "", "Scenario". If the schema does not
  /// define the path, returns the path unchanged.
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
  /// Returns `value` if it is from `least` to `most`. If the value is out of range, reports the
  /// same problem as Fields::integer() and returns nullopt. The problem names the last part of
  /// `path` as the field.
  std::optional<std::int64_t> in_range(std::string_view path, std::string_view what,
                                       std::int64_t value, std::int64_t least, std::int64_t most);

  /// True if the text has the field.
  [[nodiscard]] bool has(std::string_view path) const { return places_.has(path); }
  [[nodiscard]] const Problems& problems() const { return problems_; }

 private:
  const Places& places_;
  Problems& problems_;
};

}  // namespace tutti::core
