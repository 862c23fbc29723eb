#pragma once

#include <QWidget>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>

#include "gui/model/statistics.h"

class QTableWidget;

namespace tutti::gui {

class Actions;
class TimelineView;

/// What the spans of the selected range come to, kind by kind, or of each device apart; of what is in view while none is selected.
/// Only rows count that the filter leaves. Nothing is worked out while nobody sees the panel, and what takes long is worked
/// out in a thread; until it is there, the old numbers are grey.
class NumbersPanel : public QWidget {
  Q_OBJECT

 public:
  /// REQUIRES: the view outlives the panel.
  explicit NumbersPanel(const TimelineView& view);
  ~NumbersPanel() override;

  /// Tells whether anybody can see the panel: it is neither closed nor behind another one.
  void set_seen(bool seen);
  /// Waits until the numbers are those of what is shown.
  void finish();
  /// The number of times that numbers were begun to be worked out, in this thread or another one.
  [[nodiscard]] int begun() const { return begun_; }
  [[nodiscard]] int begun_in_thread() const { return begun_in_thread_; }

  void add_actions(Actions& actions);
  [[nodiscard]] const QTableWidget& table() const { return *table_; }
  /// The same as text. REQUIRES: the view has a trace.
  [[nodiscard]] QString csv() const;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  /// Of what the numbers are.
  struct Wanted {
    std::shared_ptr<const Trace> trace;
    std::vector<std::size_t> rows;
    TimeRange range;
    bool selected = false;  ///< the range; otherwise it is what is in view
    bool by_device = false;
    bool operator==(const Wanted&) const = default;
  };
  /// Numbers that a thread works out.
  struct Job {
    std::atomic<bool> cancel = false;
    RangeStatistics numbers;
    std::optional<core::Error> wrong;
  };

  void update_numbers();
  void begin_job(const Wanted& wanted, bool bytes);
  void end_job();
  void show_all(const RangeStatistics& all);
  void show_words(const QString& words);
  void show_numbers(int row, const KindStatistics& k);
  [[nodiscard]] Wanted wanted() const;
  [[nodiscard]] QString name_of(const KindStatistics& k) const;

  const TimelineView& view_;
  QTableWidget* table_;
  bool by_device_ = false;
  bool seen_ = false;
  std::optional<Wanted> shown_;  ///< of what the table's numbers are, or those that are being worked out
  int begun_ = 0, begun_in_thread_ = 0;
  std::shared_ptr<Job> job_;  ///< null: none is being worked out
  std::jthread thread_;
};

}  // namespace tutti::gui
