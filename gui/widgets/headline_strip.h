#pragma once

#include <QWidget>
#include <memory>

#include "gui/trace/trace.h"

class QHBoxLayout;

namespace tutti::gui {

/// A line above the timeline with the answer to what most users ask first: how long a step takes,
/// how much communication is exposed, how far that is from the lower bound, and what binds.
class HeadlineStrip : public QWidget {
  Q_OBJECT

 public:
  explicit HeadlineStrip(QWidget* parent = nullptr);

  /// Shows the figures of headline_of(); hides itself if there are none.
  void show_trace(const std::shared_ptr<const Trace>& trace);
  /// Returns the figures as text, in the order shown.
  [[nodiscard]] QString text() const;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fit();

  QHBoxLayout* row_;
};

}  // namespace tutti::gui
