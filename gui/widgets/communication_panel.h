#pragma once

#include <QTimer>
#include <QWidget>
#include <memory>
#include <optional>
#include <utility>

#include "gui/widgets/background_task.h"
#include "gui/widgets/communication_view.h"

class QCheckBox;
class QComboBox;
class QLabel;

namespace tutti::gui {

class TimelineView;

/// The panel with the communication matrix of the selected range, or of the visible range if none
/// is selected. A thread computes the matrix while the panel is visible. The computation begins
/// when the range has not changed for a tenth of a second. Until the matrix is complete, the old
/// matrix of the same timeline stays. If the user picks a pair of sender and receiver, the timeline
/// shows only the rows of these two ranks. If the user picks the same pair again, the timeline
/// shows all rows.
class CommunicationPanel : public QWidget {
  Q_OBJECT

 public:
  /// REQUIRES: the view outlives the panel.
  explicit CommunicationPanel(TimelineView& view);

  /// Sets whether the panel is visible, that is, neither closed nor behind another panel.
  void set_seen(bool seen);
  void set_theme(const Theme& theme);
  /// Removes the frame of the picked pair unless the timeline is filtered by the pair's rows.
  void follow_filter(const QString& text);
  /// Waits until the matrix is up to date.
  void finish();
  /// Returns the number of computations that were started in total.
  [[nodiscard]] int begun() const { return begun_; }
  [[nodiscard]] CommunicationView& matrix_view() { return *matrix_; }

 signals:
  /// Emitted to show only rows with this text; empty: all rows.
  void filter_wanted(const QString& text);

 private:
  /// The input of a computation.
  struct Wanted {
    std::shared_ptr<const Trace> trace;
    TimeRange range;
    std::size_t side = 0;
    bool by_worker = false;
    bool operator==(const Wanted&) const = default;
  };

  [[nodiscard]] Wanted wanted() const;
  void look_at_trace();
  void update_matrix();
  void begin_to_compute();
  void show_result(core::Expected<CommunicationMatrix> result);
  void show_chosen();
  void pick(const CommunicationView::Cell& cell);

  TimelineView& view_;
  QComboBox* quantity_;
  QComboBox* side_;
  QCheckBox* by_worker_;
  CommunicationView* matrix_;
  QLabel* words_;
  QTimer settled_;  ///< begins the computation when the range has stopped changing
  QString filter_;  ///< the filter of the picked pair
  bool seen_ = false;
  int begun_ = 0;
  std::optional<Wanted> shown_;
  BackgroundTask<CommunicationMatrix> task_{
      *this,
      [this](core::Expected<CommunicationMatrix> result) { show_result(std::move(result)); }};
};

}  // namespace tutti::gui
