#pragma once

#include <QWidget>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "gui/model/beside.h"
#include "gui/model/deviations.h"
#include "gui/window/file_opener.h"

class QComboBox;
class QLabel;
class QTableWidget;

namespace tutti::gui {

class Actions;
class TimelineView;

/// A second timeline beside the first: puts the two on one axis, and lists where they are furthest apart. What is worked out is so in
/// a thread of its own.
class BesidePanel : public QWidget {
  Q_OBJECT

 public:
  /// REQUIRES: the view outlives the panel.
  explicit BesidePanel(TimelineView& view);
  ~BesidePanel() override { stop(); }

  void add_actions(Actions& actions);

  /// The timeline that others are put beside; the second one is closed.
  void set_first(std::shared_ptr<const Trace> trace, const QString& path);
  /// Begins to open a timeline beside it; shown() and listed() or failed() follow. REQUIRES: there is a first one.
  void open(const QString& path);
  /// How the two are aligned from now on.
  void align(Align align);
  void close_second();
  /// To the row of the list, from 0 on; false if there are not as many.
  bool go_to_error(int row);
  /// How many rows there are.
  [[nodiscard]] int errors() const;
  /// Nothing follows any more.
  void stop();

  /// Null: there is no second.
  [[nodiscard]] const Beside* beside() const { return beside_ ? &*beside_ : nullptr; }
  [[nodiscard]] const QTableWidget& table() const { return *table_; }

 signals:
  void told(const QString& text);
  void progress(int percent);
  void failed(const QString& why);
  /// Whoever asked for a second has to choose the file.
  void second_wanted();
  /// There is something else to be shown. `again`: the same timelines, otherwise aligned; then what is in view stays, and `range`
  /// says where that is now.
  void shown(std::shared_ptr<const tutti::gui::Trace> trace, bool again,
             const std::optional<tutti::gui::TimeRange>& range);
  /// And the errors are in the list.
  void listed();
  void closed(std::shared_ptr<const tutti::gui::Trace> first, const QString& path);

 private:
  void put_together(bool again);
  void show_beside(Beside beside, bool again);
  void show_deviations(std::vector<Deviation> deviations);
  void fill();
  void tell_what_is_listed();
  void go_to(int row);
  void walk(int by);
  void show_controls();
  /// Does `what` in a thread of its own; by this one it then does what that answers.
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
  std::optional<Beside> beside_;
  std::vector<Deviation> deviations_;
  std::vector<std::size_t> listed_;  ///< which of them each row shows, before the table sorts its rows
  std::shared_ptr<std::atomic<bool>> stop_;
  std::jthread thread_;
};

}  // namespace tutti::gui
