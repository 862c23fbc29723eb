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

/// Where each field of a text was written, by its path: "strategy.byteps.partition_bytes", "conditions.slow[1].worker". Stages
/// that work on values, after the messages were read, complain at these places.
class Places {
 public:
  Places() = default;
  explicit Places(std::string file) : file_(std::move(file)) {}
  /// Those of a text whose fields are those of `type`. Fields that the type does not have keep the names that they were written by.
  static Places of(const Value& document, const google::protobuf::Descriptor& type, const std::string& file);

  /// The first of several places of one path is kept.
  void add(const std::string& path, Position at) { places_.try_emplace(path, at); }

  [[nodiscard]] bool has(std::string_view path) const { return places_.contains(path); }
  /// Where the value of the field stands. If it was not written: where the message around it begins; or the one around that. The
  /// text as a whole has the path "".
  [[nodiscard]] Location at(std::string_view path) const;
  /// Returns what problems at `path` are about, as the schema names it: "Strategy.shards", "Scenario" for "". A path that
  /// the schema does not have is returned as it is.
  [[nodiscard]] std::string schema_name(std::string_view path) const;

 private:
  std::string file_;
  const google::protobuf::Descriptor* type_ = nullptr;
  std::map<std::string, Position, std::less<>> places_;
};

/// What is wrong with values that were read from a text, told at the places of their fields.
class Complaints {
 public:
  Complaints(const Places& places, Problems& problems) : places_(places), problems_(problems) {}

  template <class... Args>
  void complain_at(std::string_view path, fmt::format_string<Args...> format, Args&&... args) {
    complain_at(path, ProblemCode::kInvalid, format, std::forward<Args>(args)...);
  }
  template <class... Args>
  void complain_at(std::string_view path, ProblemCode code, fmt::format_string<Args...> format, Args&&... args) {
    problems_.add({code, places_.schema_name(path)}, places_.at(path), format, std::forward<Args>(args)...);
  }
  /// `value` if it lies between the two; else nothing, and a problem in the words of Fields::integer(). `field`: the last of `path`.
  std::optional<std::int64_t> in_range(std::string_view path, std::string_view what, std::int64_t value,
                                       std::int64_t least, std::int64_t most);

  /// The field was written.
  [[nodiscard]] bool has(std::string_view path) const { return places_.has(path); }
  [[nodiscard]] const Problems& problems() const { return problems_; }

 private:
  const Places& places_;
  Problems& problems_;
};

}  // namespace tutti::core
