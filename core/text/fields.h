#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/text/bind.h"

namespace tutti::core {

/// The range of valid values, from `least` to `most`. The value `least` is valid only if `or_equal`
/// is true.
struct Bounds {
  double least = 0;
  double most = 0;
  bool or_equal = true;
};

/// Reads the fields of bound messages, and reports fields that are missing or out of range. All
/// readers use this class, so that the same mistake always gives the same message: `what: field
/// must be above 0 (got -5)`.
class Fields {
 public:
  Fields(const SourceMap& sources, Problems& problems) : sources_(sources), problems_(problems) {}

  [[nodiscard]] bool has(const google::protobuf::Message& message, const std::string& field) const;

  /// Returns the field's value. Returns nullopt if the field is absent. Reports a problem and
  /// returns nullopt if the value is out of range.
  std::optional<double> number(const google::protobuf::Message& message, const std::string& field,
                               const std::string& what, Bounds bounds);
  /// Does the same as number(), and also reports a problem if the field is absent. The text of this
  /// problem contains `remedy`, which says what the user should write.
  std::optional<double> required(const google::protobuf::Message& message, const std::string& field,
                                 const std::string& what, Bounds bounds,
                                 const std::string& remedy = "");
  /// Does the same as number(), for an integer.
  std::optional<std::int64_t> integer(const google::protobuf::Message& message,
                                      const std::string& field, const std::string& what,
                                      std::int64_t least, std::int64_t most);

  template <class... Args>
  void complain_at(const google::protobuf::Message& message, const std::string& field,
                   fmt::format_string<Args...> format, Args&&... args) {
    complain_at(message, field, ProblemCode::kInvalid, format, std::forward<Args>(args)...);
  }
  template <class... Args>
  void complain_at(const google::protobuf::Message& message, const std::string& field,
                   ProblemCode code, fmt::format_string<Args...> format, Args&&... args) {
    problems_.add({code, schema_name(message, field)}, sources_.at(message, field), format,
                  std::forward<Args>(args)...);
  }
  template <class... Args>
  void complain(const google::protobuf::Message& message, fmt::format_string<Args...> format,
                Args&&... args) {
    complain(message, ProblemCode::kInvalid, format, std::forward<Args>(args)...);
  }
  template <class... Args>
  void complain(const google::protobuf::Message& message, ProblemCode code,
                fmt::format_string<Args...> format, Args&&... args) {
    problems_.add({code, schema_name(message)}, sources_.at(message), format,
                  std::forward<Args>(args)...);
  }

  [[nodiscard]] const SourceMap& sources() const { return sources_; }
  [[nodiscard]] Problems& problems() { return problems_; }

 private:
  const SourceMap& sources_;
  Problems& problems_;
};

}  // namespace tutti::core
