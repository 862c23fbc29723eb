#pragma once

#include <QWidget>
#include <memory>
#include <optional>

#include "gui/trace/headline.h"

class QHBoxLayout;

namespace tutti::gui {

/// A line above the timeline with the most important figures (gui/trace/headline.h), such as the
/// step time, the exposed communication and the lower bound.
class HeadlineStrip : public QWidget {
  Q_OBJECT

 public:
  explicit HeadlineStrip(QWidget* parent = nullptr);

  /// Shows the figures that headline_of() returns. Hides the strip if headline_of() returns no
  /// figures. `against`: a figure that compares the run with another one, shown after the step
  /// time.
  void show_trace(const std::shared_ptr<const Trace>& trace,
                  const std::optional<HeadlineFigure>& against = {});
  /// Returns the figures as a text, in the order of display.
  [[nodiscard]] QString text() const;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fit();

  QHBoxLayout* row_;
};

}  // namespace tutti::gui
