#include "gui/widgets/focus_frame.h"

#include <QEvent>
#include <QPainter>
#include <QPen>

namespace tutti::gui {

namespace {

/// A transparent widget that covers the area and paints the frame.
class FocusFrame : public QWidget {
 public:
  explicit FocusFrame(QAbstractScrollArea& area) : QWidget(&area) {
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setObjectName(QStringLiteral("focus frame"));
    hide();
    area.installEventFilter(this);
  }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override {
    switch (event->type()) {
      case QEvent::FocusIn:
        setGeometry(parentWidget()->rect());
        raise();
        show();
        break;
      case QEvent::FocusOut: hide(); break;
      case QEvent::Resize: setGeometry(parentWidget()->rect()); break;
      default: break;
    }
    return QWidget::eventFilter(watched, event);
  }

  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setPen(QPen(palette().color(QPalette::Highlight), 2));
    painter.drawRect(rect().adjusted(1, 1, -1, -1));
  }
};

}  // namespace

void frame_while_focused(QAbstractScrollArea& area) { new FocusFrame(area); }

}  // namespace tutti::gui
