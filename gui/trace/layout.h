#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "gui/trace/trace.h"

namespace tutti::gui {

/// One line of the timeline view.
struct Line {
  enum class Kind {
    kSteps,     ///< the training steps
    kPath,      ///< the critical path of the last step
    kError,     ///< the deviations between two timelines
    kSide,      ///< a group with all lines of one of the two timelines
    kWorker,    ///< a group of devices
    kDevice,    ///< a group of rows
    kLanes,     ///< a group: a device's lanes, or its rows of packs if there are many
    kSpans,     ///< one row of the trace
    kLinks,     ///< a group of links
    kLink,      ///< the load of one link
    kCounters,  ///< a group of counters
    kCounter    ///< one counter
  };
  Kind kind = Kind::kSpans;
  int depth = 0;
  /// The path of the line, such as "worker 0/gpu1/lanes". The path is the same in every run of a
  /// scenario.
  std::string key;
  std::string name;  ///< the last part of the key
  /// The name with the device, such as "w0/gpu1, lane 0", for lines that are not shown below the
  /// header of their device; empty: the name is sufficient.
  std::string full_name{};
  std::size_t side = 0;
  /// The name of the line's timeline, if there are two timelines and no enclosing group shows the
  /// name.
  std::string timeline{};
  /// For kSpans: the index of the row. For groups: the indices of all rows in the group. A
  /// collapsed group shows the utilisation of these rows.
  std::vector<std::size_t> rows{};
  /// For kLink: the index in the links of the side's timeline. For kError: the index in the trace's
  /// rows of differences. For kCounter: the index in the result of counters_of().
  std::size_t number = 0;
  bool open = true;  ///< for groups: true if the group is not collapsed
  bool pinned = false;
  int top = 0;  ///< distance in pixels from the top of the first line
  int height = 0;
  [[nodiscard]] bool is_group() const {
    return kind == Kind::kSide || kind == Kind::kWorker || kind == Kind::kDevice ||
           kind == Kind::kLanes || kind == Kind::kLinks || kind == Kind::kCounters;
  }
  [[nodiscard]] int bottom() const { return top + height; }
};

/// The arrangement of the lines of two timelines.
enum class Arrangement {
  kPairs,  ///< matching lines of both timelines are adjacent
  kSides   ///< all lines of the first timeline are above all lines of the second timeline
};

/// The lines of the timeline view and their positions. The lines form a tree: worker ▸ device ▸
/// lanes, and worker ▸ links. Groups can be collapsed, and lines can be pinned and filtered.
class Layout {
 public:
  Layout() = default;
  /// Creates the layout of a trace. Groups with many lanes or workers are initially collapsed.
  /// REQUIRES: the trace outlives the layout.
  explicit Layout(const Trace& trace, Arrangement arrangement = Arrangement::kPairs);

  /// Takes the pins and the filter from `before`. Groups that exist in both layouts are open or
  /// collapsed as in `before`.
  void take_over(const Layout& before);

  /// Returns the visible lines; pinned lines first.
  [[nodiscard]] const std::vector<Line>& lines() const { return lines_; }
  [[nodiscard]] int height() const { return lines_.empty() ? 0 : lines_.back().bottom(); }
  /// Returns the height of the pinned lines, which do not scroll.
  [[nodiscard]] int pinned_height() const { return pinned_height_; }
  /// Returns the index of the line at `y` pixels from the top; lines().size() if there is none.
  [[nodiscard]] std::size_t line_at(int y) const;
  /// Returns the index of the line that shows the row; lines().size() if the row is hidden.
  [[nodiscard]] std::size_t line_of_row(std::size_t row) const;
  /// Returns the index of the line that shows the row, or of the collapsed group that contains the
  /// row.
  [[nodiscard]] std::size_t line_with_row(std::size_t row) const;

  /// Shows lines for the counters with these names, above the lines of the workers. Empty: shows
  /// none.
  void show_counters(const std::vector<std::string>& names);

  void open(const std::string& key, bool open);
  void open_all(bool open);
  void pin(const std::string& key, bool pinned);
  /// Shows only lines whose key contains the text (ignoring case), and their groups. The text may
  /// have several alternatives: "gpu0/ | gpu1/". An empty text shows all lines.
  void filter(const std::string& text);
  /// Returns the filter; empty if all lines are shown.
  [[nodiscard]] const std::string& filter() const { return filter_; }
  /// Makes the row visible: opens collapsed groups around it, and clears the filter if it hides the
  /// row.
  void reveal(std::size_t row);
  /// Makes the line with this key visible: opens groups, and clears the filter if it hides the
  /// line.
  void reveal(const std::string& key);
  /// Returns the key of the line that shows link `link` of a side's timeline, even if the line is
  /// hidden; empty if there is no such line.
  [[nodiscard]] std::string key_of_link(std::size_t side, std::size_t link) const;

 private:
  void add(Line line);
  void add_steps(const Trace& trace, std::size_t side, const std::string& under, int depth,
                 const std::string& timeline);
  void add_path(const Trace& trace, std::size_t side, const std::string& under, int depth,
                const std::string& timeline);
  void add_differences(const Trace& trace);
  void add_rows(const Trace& trace, const std::vector<std::size_t>& rows, const std::string& under,
                int depth, bool pairs);
  void add_links(const Trace& trace, const std::vector<std::size_t>& sides,
                 const std::string& under, int depth);
  void collapse_large_groups();
  void arrange();

  std::vector<Line> all_;  ///< all lines; every group precedes its content
  std::vector<Line> lines_;
  std::set<std::string> closed_, pinned_;
  std::string filter_;
  int pinned_height_ = 0;
  bool counters_ = false;
};

}  // namespace tutti::gui
