#include "gui/widgets/picture_file.h"

#include <QApplication>
#include <QBuffer>
#include <QFileInfo>
#include <QImage>
#include <QPainter>
#include <QSaveFile>
#include <QSvgGenerator>
#include <QSvgRenderer>

#include "gui/widgets/timeline_view.h"

namespace tutti::gui {

namespace {

QByteArray svg_of(const TimelineView& view) {
  QBuffer buffer;
  QSvgGenerator svg;
  svg.setOutputDevice(&buffer);
  svg.setSize(view.size());
  svg.setViewBox(QRect(QPoint(), view.size()));
  svg.setTitle(QString::fromStdString(view.trace()->run().scenario));
  svg.setDescription(QCoreApplication::translate("Picture", "Timeline, drawn by Tutti"));
  QPainter painter(&svg);
  view.paint_shapes(painter, view.size());
  painter.end();
  // Turn off antialiasing. A picture of a plot consists of rectangles of one pixel, and their edges
  // must not be visible when the picture is scaled.
  QByteArray text = buffer.data();
  return text.replace(
      "<defs>", "<defs><style type=\"text/css\">rect { shape-rendering: crispEdges }</style>");
}

QByteArray png_of(const TimelineView& view) {
  constexpr qreal kScale = 2;
  QBuffer buffer;
  view.picture(view.size(), kScale).save(&buffer, "PNG");
  return buffer.data();
}

}  // namespace

QString write_picture(const TimelineView& view, const QString& path) {
  if (!view.trace()) return QCoreApplication::translate("Picture", "no timeline is open");
  const QByteArray bytes =
      path.endsWith(QStringLiteral(".svg"), Qt::CaseInsensitive) ? svg_of(view) : png_of(view);
  QSaveFile file(path);
  if (file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() && file.commit())
    return {};
  return QCoreApplication::translate("Picture", "%1 cannot be written: %2")
      .arg(path, file.errorString());
}

QPixmap picture_of_window(QWidget& window) {
  QPixmap picture = window.grab();
  QPainter painter(&picture);
  for (QWidget* const above : QApplication::topLevelWidgets()) {
    const bool dialog = above->isWindow() && above != &window && above->isVisible() &&
                        (above->windowType() == Qt::Dialog || above->windowType() == Qt::Popup);
    if (!dialog) continue;
    const QPoint corner = above->pos() - window.pos();
    painter.drawPixmap(corner, above->grab());
    painter.setPen(above->palette().color(QPalette::PlaceholderText));
    painter.drawRect(QRect(corner, above->size()).adjusted(-1, -1, 0, 0));
  }
  return picture;
}

QString draw_svg(const QString& from, const QString& to) {
  constexpr int kScale = 2, kMaxPixels = 20'000;
  const QFileInfo info(from);
  if (!info.isFile())
    return QCoreApplication::translate("Picture", "%1: there is no such file").arg(from);
  QSvgRenderer svg(from);
  const QSize size = svg.defaultSize() * kScale;
  if (!svg.isValid() || size.isEmpty() || size.width() > kMaxPixels || size.height() > kMaxPixels)
    return QCoreApplication::translate("Picture", "%1: this SVG cannot be drawn").arg(from);
  QImage image(size, QImage::Format_RGB32);
  image.fill(Qt::white);
  QPainter painter(&image);
  painter.setRenderHint(QPainter::Antialiasing);
  svg.render(&painter);
  painter.end();
  QSaveFile file(to);
  if (file.open(QIODevice::WriteOnly) && image.save(&file, "PNG") && file.commit()) return {};
  return QCoreApplication::translate("Picture", "%1 cannot be written: %2")
      .arg(to, file.errorString());
}

}  // namespace tutti::gui
