#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "gui/model/time_range.h"

namespace tutti::gui {

/// A note at a moment of a run, or over a stretch of it.
struct Mark {
  TimeRange at;  ///< a moment: both the same
  std::string text;
  bool operator==(const Mark&) const = default;
};

/// What someone noted on a timeline, in order of time. Kept in a file beside it, see gui/proto/marks.proto.
class Marks {
 public:
  /// The file that belongs to a timeline.
  static std::string path_beside(const std::string& timeline) { return timeline + ".marks"; }
  /// ERRORS: everything that is wrong, with its place in the text.
  static core::Expected<Marks> read(const std::string& text, const std::string& path);
  [[nodiscard]] std::string write() const;

  [[nodiscard]] const std::vector<Mark>& all() const { return all_; }
  /// Where it is now in all().
  std::size_t add(Mark mark);
  /// REQUIRES: there are so many.
  void remove(std::size_t i);
  void rename(std::size_t i, std::string text);
  /// The first that begins behind `t`; the first of all if there is none. Nothing if there are no marks.
  [[nodiscard]] std::optional<std::size_t> next(core::Time t) const;
  /// The last that begins before `t`; the last of all if there is none.
  [[nodiscard]] std::optional<std::size_t> previous(core::Time t) const;

 private:
  std::vector<Mark> all_;
};

}  // namespace tutti::gui
