#pragma once

#include <QWidget>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "gui/comparison/comparison.h"
#include "gui/comparison/deviations.h"
#include "gui/window/file_opener.h"

class QComboBox;
class QLabel;
class QTableWidget;

namespace tutti::gui {

class Actions;
class TimelineView;

/// Compares a second timeline with the first. Shows both timelines on one axis, and lists their
/// largest deviations. A thread computes the list.
class ComparisonPanel : public QWidget {
  Q_OBJECT

 public:
  /// REQUIRES: the view outlives the panel.
  explicit ComparisonPanel(TimelineView& view);
  ~ComparisonPanel() override { stop(); }

  void add_actions(Actions& actions);

  /// Sets the first timeline, and closes the second timeline.
  void set_first(std::shared_ptr<const Trace> trace, const QString& path);
  /// Opens a second timeline. The signals shown() and listed() follow; on failure, the signal
  /// failed() follows. REQUIRES: there is a first timeline.
  void open(const QString& path);
  /// Changes the alignment of the two timelines.
  void align(Align align);
  void close_second();
  /// Cancels opening a second timeline. The comparison that was shown before stays.
  void cancel_open();
  /// Goes to the deviation in row `row` of the list; rows are counted from 0. Returns false if
  /// there are fewer rows.
  bool go_to_error(int row);
  /// Returns the number of rows in the list.
  [[nodiscard]] int errors() const;
  /// Ends the work. No signal is emitted after this call.
  void stop();

  /// Returns the comparison; null if there is no second timeline.
  [[nodiscard]] const Comparison* comparison() const {
    return comparison_ ? &*comparison_ : nullptr;
  }
  /// Returns the path of the second timeline. REQUIRES: there is a comparison.
  [[nodiscard]] const QString& second_path() const { return second_path_; }
  [[nodiscard]] const QTableWidget& table() const { return *table_; }

 signals:
  void status_message(const QString& text);
  void progress(int percent);
  void failed(const QString& why);
  /// Emitted when the user wants to choose a second timeline.
  void second_wanted();
  /// Emitted when a comparison is complete, with the trace to show. If `again` is true, only the
  /// alignment has changed; the view then keeps its state, and `range` becomes its visible range.
  void shown(std::shared_ptr<const tutti::gui::Trace> trace, bool again,
             const std::optional<tutti::gui::TimeRange>& range);
  /// Emitted when the list of deviations has been filled.
  void listed();
  void closed(std::shared_ptr<const tutti::gui::Trace> first, const QString& path);

 private:
  void put_together(bool again);
  void show_comparison(Comparison comparison, bool again);
  void show_deviations(std::vector<Deviation> deviations);
  void fill();
  void report_listed();
  void go_to(int row);
  void walk(int by);
  void show_controls();
  /// Runs `what` in another thread. `what` returns a function, which is then called in the thread
  /// of this object.
  template <class What>
  void work(What what);

  TimelineView& view_;
  QLabel* words_;
  QComboBox* alignment_;
  QComboBox* arrangement_;
  QComboBox* sort_;
  QTableWidget* table_;
  FileOpener opener_{this};
  std::shared_ptr<const Trace> first_, second_;
  QString first_path_, second_path_;
  QString shown_path_;  ///< the path of the second timeline of comparison_
  Align align_ = Align::kStep;
  std::optional<Comparison> comparison_;
  std::vector<Deviation> deviations_;
  /// The indices of the listed deviations, in the order in which they were added to the table.
  std::vector<std::size_t> listed_;
  std::shared_ptr<std::atomic<bool>> stop_;
  std::jthread thread_;
};

}  // namespace tutti::gui
