#pragma once

#include <QWidget>
#include <memory>
#include <optional>
#include <utility>

#include "gui/trace/statistics.h"
#include "gui/widgets/background_task.h"

class QTableWidget;

namespace tutti::gui {

class Actions;
class TimelineView;

/// A panel with statistics of the spans in the selected range, by kind, or by kind and device. If
/// no range is selected, the statistics cover the visible range. The statistics include only rows
/// that match the filter. Nothing is computed while the panel is hidden. Long computations run in a
/// thread; until they are complete, the old numbers are shown in grey.
class NumbersPanel : public QWidget {
  Q_OBJECT

 public:
  /// REQUIRES: the view outlives the panel.
  explicit NumbersPanel(const TimelineView& view);

  /// Sets whether the panel is visible, that is, neither closed nor behind another panel.
  void set_seen(bool seen);
  /// Waits until the statistics are up to date.
  void finish();
  /// begun() returns the total number of computations that were started, and begun_in_thread()
  /// returns how many of them were started in threads.
  [[nodiscard]] int begun() const { return begun_; }
  [[nodiscard]] int begun_in_thread() const { return begun_in_thread_; }

  void add_actions(Actions& actions);
  [[nodiscard]] const QTableWidget& table() const { return *table_; }
  /// Returns the numbers as CSV. REQUIRES: the view has a trace.
  [[nodiscard]] QString csv() const;

 signals:
  /// Emitted when the user has switched between separate numbers for each device and numbers for
  /// all devices together.
  void by_device_changed();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  /// The input of a computation.
  struct Wanted {
    std::shared_ptr<const Trace> trace;
    std::vector<std::size_t> rows;
    TimeRange range;
    bool selected = false;  ///< true: the selected range; false: the visible range
    bool by_device = false;
    bool operator==(const Wanted&) const = default;
  };

  void update_numbers();
  void compute_in_thread(const Wanted& wanted, bool bytes);
  void discard_computation();
  void take_result(const core::Expected<RangeStatistics>& result);
  void show_all(const RangeStatistics& all);
  void show_words(const QString& words);
  void sort_by(int column);
  void show_numbers(int row, const KindStatistics& k);
  [[nodiscard]] Wanted wanted() const;
  [[nodiscard]] QString name_of(const KindStatistics& k) const;

  const TimelineView& view_;
  QTableWidget* table_;
  std::optional<std::pair<int, Qt::SortOrder>> sorted_by_;  ///< the column by which rows are
                                                            ///< sorted; nullopt: rows are sorted by
                                                            ///< total time
  bool by_device_ = false;
  bool seen_ = false;
  /// The input of the current computation, or, if there is none, of the statistics in the table.
  std::optional<Wanted> shown_;
  int begun_ = 0, begun_in_thread_ = 0;
  BackgroundTask<RangeStatistics> task_{
      *this, [this](const core::Expected<RangeStatistics>& result) { take_result(result); }};
};

}  // namespace tutti::gui
