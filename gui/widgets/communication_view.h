#pragma once

#include <QImage>
#include <QWidget>
#include <optional>
#include <utility>
#include <vector>

#include "gui/paint/theme.h"
#include "gui/trace/communication.h"

namespace tutti::gui {

/// The quantity that the colours of a communication matrix show.
enum class MatrixQuantity { kBytes, kTime, kRate };

/// A communication matrix as a picture: one row for each sender, one column for each receiver. The
/// colour of a cell shows the cell's value; a scale next to the matrix shows which colour stands
/// for which value. The mouse and the arrow keys choose a cell; a click or Enter picks it.
class CommunicationView : public QWidget {
  Q_OBJECT

 public:
  /// A cell: the sender's and the receiver's index in the matrix.
  using Cell = std::pair<std::size_t, std::size_t>;

  explicit CommunicationView(QWidget* parent = nullptr);

  void show_matrix(CommunicationMatrix matrix);
  /// Shows a text instead of a matrix.
  void show_words(const QString& words);
  void set_quantity(MatrixQuantity quantity);
  void set_theme(const Theme& theme);
  /// Sets the cell that is drawn with a frame. The frame shows that the timeline is restricted to
  /// the rows of this pair.
  void set_picked(const std::optional<Cell>& cell);

  [[nodiscard]] const CommunicationMatrix& matrix() const { return matrix_; }
  [[nodiscard]] const std::optional<Cell>& chosen() const { return chosen_; }
  [[nodiscard]] const std::optional<Cell>& picked() const { return picked_; }
  /// Returns the rectangle of a cell. It may be smaller than a pixel.
  [[nodiscard]] QRectF box_of(const Cell& cell) const;
  /// Describes the messages of a cell in words.
  [[nodiscard]] QString words_of(const Cell& cell) const;
  /// Returns the colour of a cell. Pairs without messages have a faint tint.
  [[nodiscard]] Pixel colour_of(const Cell& cell) const;

  [[nodiscard]] QSize minimumSizeHint() const override { return {200, 120}; }

 signals:
  /// Emitted when the mouse or the arrow keys have chosen another cell, or when no cell is chosen
  /// any more.
  void cell_chosen();
  /// Emitted on a click or Enter.
  void cell_picked(const tutti::gui::CommunicationView::Cell& cell);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  bool event(QEvent* event) override;

 private:
  [[nodiscard]] double value_of(const PairTraffic& traffic) const;
  [[nodiscard]] QString text_of_value(double value) const;
  /// Returns the position of a value on the colour scale, from 0 to 1.
  [[nodiscard]] double share_of(double value) const;
  [[nodiscard]] Pixel colour_at(double share) const;
  [[nodiscard]] QRectF cells() const;
  [[nodiscard]] int name_width() const;
  [[nodiscard]] std::optional<Cell> cell_under(const QPointF& point) const;
  void choose(const std::optional<Cell>& cell);
  void find_ends();
  void paint_cells(QPainter& painter) const;
  void paint_names(QPainter& painter) const;
  void paint_scale(QPainter& painter) const;

  const Theme* theme_;
  MatrixQuantity quantity_ = MatrixQuantity::kBytes;
  CommunicationMatrix matrix_;
  QString words_;
  mutable QImage image_;         ///< a pixel for each cell; null: to be painted again
  double least_ = 0, most_ = 0;  ///< the ends of the colour scale
  bool logarithmic_ = false;
  std::optional<Cell> chosen_, picked_;
};

}  // namespace tutti::gui
