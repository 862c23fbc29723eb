#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "gui/model/trace.h"

namespace tutti::gui {

/// One line of the window, from top to bottom.
struct Line {
  enum class Kind {
    kSteps,     ///< training steps
    kPath,      ///< critical path of the last step
    kError,     ///< how far two timelines are apart
    kSide,      ///< a group: one of two timelines
    kWorker,    ///< a group of devices
    kDevice,    ///< a group of rows
    kLanes,     ///< a device's lanes
    kSpans,     ///< one row of the trace
    kLinks,     ///< a group of links
    kLink,      ///< load of one link
    kCounters,  ///< a group of counters
    kCounter    ///< one of them
  };
  Kind kind = Kind::kSpans;
  int depth = 0;
  std::string key;   ///< the same in every run of the same scenario: "worker 0/gpu1/lanes"
  std::string name;  ///< its last part
  std::size_t side = 0;
  std::string timeline{};  ///< of two: the side's name, where the groups that the line is in do not say it
  /// kSpans: the row. Groups: all rows in them, whose common utilisation stands for them while they are closed.
  std::vector<std::size_t> rows{};
  /// kLink: which of the side's; kError: of the trace's; kCounter: of counters_of().
  std::size_t number = 0;
  bool open = true;  ///< groups
  bool pinned = false;
  int top = 0;  ///< pixels, from the first line on
  int height = 0;
  [[nodiscard]] bool is_group() const {
    return kind == Kind::kSide || kind == Kind::kWorker || kind == Kind::kDevice || kind == Kind::kLanes ||
           kind == Kind::kLinks || kind == Kind::kCounters;
  }
  [[nodiscard]] int bottom() const { return top + height; }
};

/// Where two timelines are.
enum class Arrangement {
  kPairs,  ///< what is the same in both one above the other
  kSides   ///< all of the first above all of the second
};

/// The lines of the window and their positions: worker ▸ device ▸ lanes, and links. Lines can be
/// collapsed, pinned and filtered.
class Layout {
 public:
  Layout() = default;
  /// REQUIRES: the trace outlives the layout. Many lanes or workers begin closed.
  explicit Layout(const Trace& trace, Arrangement arrangement = Arrangement::kPairs);

  /// Groups that `before` has too are open if they are there; pins and the filter are its own.
  void take_over(const Layout& before);

  /// What is to be seen; pinned lines first.
  [[nodiscard]] const std::vector<Line>& lines() const { return lines_; }
  [[nodiscard]] int height() const { return lines_.empty() ? 0 : lines_.back().bottom(); }
  /// Height of the pinned lines, which do not scroll.
  [[nodiscard]] int pinned_height() const { return pinned_height_; }
  /// The line at `y` pixels from the top of them all; lines().size() if there is none.
  [[nodiscard]] std::size_t line_at(int y) const;
  /// The line that shows the row; lines().size() if it is hidden.
  [[nodiscard]] std::size_t line_of_row(std::size_t row) const;
  /// That line, or the closed group that the row is in.
  [[nodiscard]] std::size_t line_with_row(std::size_t row) const;

  /// Lines for counters of these names, above the workers; none: without.
  void show_counters(const std::vector<std::string>& names);

  void open(const std::string& key, bool open);
  void open_all(bool open);
  void pin(const std::string& key, bool pinned);
  /// Only lines whose key contains the text (in any case), and the groups they are in. Empty: all.
  void filter(const std::string& text);
  /// Opens whatever hides the row, and drops the filter if it does.
  void reveal(std::size_t row);
  /// The same for a line by its key.
  void reveal(const std::string& key);
  /// Key of the line of a side's link, also if it is hidden; empty if there is none.
  [[nodiscard]] std::string key_of_link(std::size_t side, std::size_t link) const;

 private:
  void add(Line line);
  void add_steps(const Trace& trace, std::size_t side, const std::string& under, int depth,
                 const std::string& timeline);
  void add_path(const Trace& trace, std::size_t side, const std::string& under, int depth, const std::string& timeline);
  void add_differences(const Trace& trace);
  void add_rows(const Trace& trace, const std::vector<std::size_t>& rows, const std::string& under, int depth,
                bool pairs);
  void add_links(const Trace& trace, const std::vector<std::size_t>& sides, const std::string& under, int depth);
  void close_what_is_much();
  void arrange();

  std::vector<Line> all_;  ///< every group before what is in it
  std::vector<Line> lines_;
  std::set<std::string> closed_, pinned_;
  std::string filter_;
  int pinned_height_ = 0;
  bool counters_ = false;
};

}  // namespace tutti::gui
