#pragma once

#include <QPixmap>
#include <QWidget>
#include <memory>
#include <optional>

#include "gui/documents/sweep_curves.h"
#include "gui/paint/theme.h"

namespace tutti::gui {

/// An interactive plot of a sweep. A card describes the point under the mouse. A click on a point
/// opens the point. The arrow keys select a point, and Enter opens the selected point.
class PlotView : public QWidget {
  Q_OBJECT

 public:
  explicit PlotView(QWidget* parent = nullptr);

  /// Shows curves. The selected point stays selected if the new curves contain it.
  void show_curves(std::shared_ptr<const SweepData> data, SweepCurves curves);
  void set_theme(const Theme& theme);
  [[nodiscard]] const SweepCurves& curves() const { return curves_; }
  [[nodiscard]] bool empty() const { return !data_; }
  /// Sets the text that is shown if there are no curves to plot.
  void show_words(const QString& words);

  [[nodiscard]] std::optional<CurvePlace> selected() const { return selected_; }
  void select(const std::optional<CurvePlace>& place);
  /// step_along() moves the selection along its curve. The function step_across() moves the
  /// selection to the next curve above or below, at the same value of the x axis.
  void step_along(int by);
  void step_across(int up);
  void open_selected();
  /// Returns the position at which a point is drawn.
  [[nodiscard]] QPointF pixel_of(const CurvePlace& place) const;
  /// Returns the point nearest to a pixel; nullopt if no point is close enough.
  [[nodiscard]] std::optional<CurvePlace> near(const QPointF& pixel) const;
  /// Returns the text of the card, which describes the point under the mouse, or otherwise the
  /// selected point; empty if no card is shown.
  [[nodiscard]] QString card() const;

  [[nodiscard]] QSize sizeHint() const override { return {560, 400}; }

 signals:
  void selection_changed();
  /// Emitted when the user wants to run a point's scenario.
  void wanted(qint64 point);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void hover(const std::optional<CurvePlace>& place);
  void paint_card(QPainter& painter, const CurvePlace& place);
  void describe();

  std::shared_ptr<const SweepData> data_;
  SweepCurves curves_;
  const Theme* theme_;
  QPixmap picture_;  ///< the plot without the selection; null: it has to be painted
  std::optional<CurvePlace> hovered_, selected_;
  QString words_;
};

}  // namespace tutti::gui
