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

/// Compares a second timeline with the first: puts both on one axis and lists their largest
/// deviations, which are computed in a thread.
class ComparisonPanel : public QWidget {
  Q_OBJECT

 public:
  /// REQUIRES: the view outlives the panel.
  explicit ComparisonPanel(TimelineView& view);
  ~ComparisonPanel() override { stop(); }

  void add_actions(Actions& actions);

  /// Sets the timeline with which others are compared; the second one is closed.
  void set_first(std::shared_ptr<const Trace> trace, const QString& path);
  /// Opens a second timeline; shown() and listed(), or failed() follow. REQUIRES: there is a first
  /// one.
  void open(const QString& path);
  /// Changes the alignment of the two.
  void align(Align align);
  void close_second();
  /// Goes to a row of the list, from 0 on; returns false if there are fewer rows.
  bool go_to_error(int row);
  /// Returns the number of rows in the list.
  [[nodiscard]] int errors() const;
  /// Ends the work; no signal is emitted any more.
  void stop();

  /// Returns the comparison; null if there is no second timeline.
  [[nodiscard]] const Comparison* comparison() const {
    return comparison_ ? &*comparison_ : nullptr;
  }
  [[nodiscard]] const QTableWidget& table() const { return *table_; }

 signals:
  void told(const QString& text);
  void progress(int percent);
  void failed(const QString& why);
  /// Emitted when the user wants to choose a second timeline.
  void second_wanted();
  /// Emitted with a trace to show. `again`: it has the same timelines with another alignment; then
  /// the view stays, and `range` is its new visible range.
  void shown(std::shared_ptr<const tutti::gui::Trace> trace, bool again,
             const std::optional<tutti::gui::TimeRange>& range);
  /// Emitted when the errors are in the list.
  void listed();
  void closed(std::shared_ptr<const tutti::gui::Trace> first, const QString& path);

 private:
  void put_together(bool again);
  void show_comparison(Comparison comparison, bool again);
  void show_deviations(std::vector<Deviation> deviations);
  void fill();
  void tell_what_is_listed();
  void go_to(int row);
  void walk(int by);
  void show_controls();
  /// Runs `what` in a thread, and then the function that it returns in this thread.
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
  Align align_ = Align::kStep;
  std::optional<Comparison> comparison_;
  std::vector<Deviation> deviations_;
  /// Indices of the listed deviations, in the order before the table sorts its rows.
  std::vector<std::size_t> listed_;
  std::shared_ptr<std::atomic<bool>> stop_;
  std::jthread thread_;
};

}  // namespace tutti::gui
