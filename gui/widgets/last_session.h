#pragma once

#include <QString>
#include <optional>

#include "gui/trace/time_range.h"

namespace tutti::gui {

/// The files that a window shows, and the visible range, filter and cursor of its timeline. While
/// the window is open, it stores this data in the user's settings, so that a crash does not lose
/// the data. Timelines of runs that were started in the window are not stored, because their files
/// are deleted when the window is closed.
struct LastSession {
  QString timeline;  ///< the path of the timeline; empty: none
  QString second;    ///< the path of the second timeline of a comparison; empty: none
  QString scenario;  ///< the path of the scenario in the editor; empty: none
  QString sweep;     ///< the path of the sweep; empty: none
  std::optional<TimeRange> range{};  ///< the visible range of the timeline
  QString filter;                    ///< the filter of the timeline's rows
  core::Time moment;                 ///< the time of the cursor
  /// The process whose window showed the files; 0: the window was closed.
  qint64 process = 0;

  bool operator==(const LastSession&) const = default;
  [[nodiscard]] bool empty() const {
    return timeline.isEmpty() && scenario.isEmpty() && sweep.isEmpty();
  }
  /// Returns the name of the main file without its directory, for a button.
  [[nodiscard]] QString name() const;
  /// Returns true if the window was not closed, but its process no longer runs, for example because
  /// of a crash.
  [[nodiscard]] bool was_interrupted() const;

  /// Reads the session from the settings. Files that no longer exist are omitted.
  static LastSession read();
  void write() const;
};

}  // namespace tutti::gui
