#pragma once

#include <QPixmap>
#include <QWidget>
#include <memory>
#include <optional>

#include "gui/model/sweep_curves.h"
#include "gui/paint/theme.h"

namespace tutti::gui {

/// A sweep as a plot that can be pointed at: a card tells what is known of the point under the mouse, a click, or arrows and Enter,
/// open it.
class PlotView : public QWidget {
  Q_OBJECT

 public:
  explicit PlotView(QWidget* parent = nullptr);

  /// What is selected stays selected if it is still there.
  void show_curves(std::shared_ptr<const SweepData> data, SweepCurves curves);
  void set_theme(const Theme& theme);
  [[nodiscard]] const SweepCurves& curves() const { return curves_; }
  [[nodiscard]] bool empty() const { return !data_; }
  /// What there is to be read where nothing can be drawn.
  void show_words(const QString& words);

  [[nodiscard]] std::optional<CurvePlace> selected() const { return selected_; }
  void select(const std::optional<CurvePlace>& place);
  /// Along its curve; to the next curve above or below at the same value.
  void step_along(int by);
  void step_across(int up);
  void open_selected();
  /// What is drawn where.
  [[nodiscard]] QPointF pixel_of(const CurvePlace& place) const;
  /// The point nearest to a pixel, within reach; nothing if there is none.
  [[nodiscard]] std::optional<CurvePlace> near(const QPointF& pixel) const;
  /// The card beside a point: what the mouse, or else the keyboard, is at. Empty: none is shown.
  [[nodiscard]] QString card() const;

  [[nodiscard]] QSize sizeHint() const override { return {560, 400}; }

 signals:
  void selection_changed();
  /// Somebody wants to see the run of this point.
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
  QPixmap picture_;  ///< without what is selected; null: to be painted anew
  std::optional<CurvePlace> hovered_, selected_;
  QString words_;
};

}  // namespace tutti::gui
