#pragma once

// The interface between pugixml and the readers of NCCL's and MSCCL's files
// (core/custom/msccl.cpp). No other code includes this header.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pugixml.hpp>

#include "core/base/error.h"

namespace tutti::core::nccl {

/// An XML document. Errors in attributes are reported with the line and column of their element.
class XmlText {
 public:
  /// Parses a document. The document's root element must be `root`. If the root element has a
  /// version, the version must be "1".
  /// ERRORS: the text is not XML; the root element or the version is wrong; the text has more
  /// than 64 MiB; elements are nested deeper than 128 levels.
  static Expected<XmlText> parse(std::string_view text, const std::string& file,
                                 const std::string& root);

  [[nodiscard]] pugi::xml_node root() const { return root_; }
  [[nodiscard]] Location where(const pugi::xml_node& element) const {
    return place(element.offset_debug());
  }

  /// Returns an attribute as a number (decimal, or hexadecimal with 0x). If the attribute is
  /// missing or out of range, reports a problem and returns nullopt.
  std::optional<std::int64_t> integer(const pugi::xml_node& element, const char* attribute,
                                      std::int64_t least, std::int64_t most,
                                      Problems& problems) const;
  /// Does the same as the overload above, but returns `missing` if the attribute is absent.
  std::optional<std::int64_t> integer(const pugi::xml_node& element, const char* attribute,
                                      std::int64_t least, std::int64_t most, std::int64_t missing,
                                      Problems& problems) const;
  std::optional<float> real(const pugi::xml_node& element, const char* attribute, float least,
                            float most, std::optional<float> missing, Problems& problems) const;
  /// Returns the text of an attribute. If the attribute is missing, reports a problem and returns
  /// nullopt.
  std::optional<std::string> text(const pugi::xml_node& element, const char* attribute,
                                  Problems& problems) const;
  /// Reports a problem at an element. The problem's field is the name of the element, followed by
  /// `attribute` unless `attribute` is empty.
  template <class... Args>
  void complain(Problems& problems, ProblemCode code, const pugi::xml_node& element,
                const char* attribute, fmt::format_string<Args...> format, Args&&... args) const {
    std::string field = element.name();
    if (*attribute != 0) field += fmt::format(".{}", attribute);
    problems.add({code, std::move(field)}, where(element), format, std::forward<Args>(args)...);
  }

 private:
  XmlText() = default;
  template <class Number>
  std::optional<Number> number(const pugi::xml_node& element, const char* attribute, Number least,
                               Number most, Problems& problems) const;
  [[nodiscard]] Location place(std::ptrdiff_t offset) const;

  std::unique_ptr<pugi::xml_document> document_;
  pugi::xml_node root_;
  std::string file_;
  std::vector<std::ptrdiff_t> line_ends_;
};

/// Returns a bus id as a number. The hexadecimal digits of the text, without `.` and `:`, are read
/// as one number: "0000:07:00.0" is 0x7000. If the text contains any other character, this
/// character and the following text are ignored. Returns nullopt if there are no digits or more
/// than 16 digits.
std::optional<std::uint64_t> bus_number(std::string_view text);

}  // namespace tutti::core::nccl
