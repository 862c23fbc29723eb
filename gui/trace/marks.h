#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "gui/trace/time_range.h"

namespace tutti::gui {

/// A mark: a user's note at a time of a run, or on a time range of a run.
struct Mark {
  TimeRange at;  ///< the time range of the note; for a note at a single time, both ends are equal
  std::string text;
  bool operator==(const Mark&) const = default;
};

/// The notes of a timeline, in order of time. The notes are stored in a file next to the timeline's
/// file. The file gui/proto/marks.proto defines the format.
class Marks {
 public:
  /// Returns the path of the file with the notes of a timeline.
  static std::string path_of(const std::string& timeline) { return timeline + ".marks"; }
  /// Parses the text of a file with notes. ERRORS: the text is invalid; the error has all problems
  /// with their positions in the text.
  static core::Expected<Marks> read(const std::string& text, const std::string& path);
  [[nodiscard]] std::string write() const;

  /// Merges changes: returns the marks in `theirs`, after applying the changes that lead from
  /// `base` to `mine`. With this function, two windows that show the same timeline keep each
  /// other's marks.
  static Marks merged(const Marks& base, const Marks& mine, const Marks& theirs);

  [[nodiscard]] const std::vector<Mark>& all() const { return all_; }
  /// Adds a mark and returns its index in all().
  std::size_t add(Mark mark);
  /// REQUIRES: i < all().size().
  void remove(std::size_t i);
  void rename(std::size_t i, std::string text);
  /// Returns the first mark that begins after `t`. If there is none, returns the first of all
  /// marks; nullopt if there are no marks.
  [[nodiscard]] std::optional<std::size_t> next(core::Time t) const;
  /// Returns the last mark that begins before `t`. If there is none, returns the last of all marks;
  /// nullopt if there are no marks.
  [[nodiscard]] std::optional<std::size_t> previous(core::Time t) const;

 private:
  std::vector<Mark> all_;
};

}  // namespace tutti::gui
