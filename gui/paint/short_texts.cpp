#include "gui/paint/short_texts.h"

#include <QFontMetrics>
#include <algorithm>

namespace tutti::gui {

namespace {

/// The maximum number of cached texts. A full cache is cleared.
constexpr int kMax = 4096;
/// Widths are rounded down to a multiple of this number of pixels, so that shortened texts rarely
/// change while the view is zoomed.
constexpr int kGrain = 4;
/// The minimum number of letters of a shortened text. Shorter texts are not drawn.
constexpr qsizetype kFewLetters = 4;

}  // namespace

ShortTexts::Face& ShortTexts::face_of(const QFont& font) {
  Face& face = faces_[font.bold() ? 1 : 0];
  if (face.font != font || face.whole.size() > kMax || face.cut.size() > kMax)
    face = {font, {}, {}};
  return face;
}

ShortTexts::Shaped& ShortTexts::whole(QPainter& painter, const QString& text) {
  Face& face = face_of(painter.font());
  Shaped& shaped = face.whole[text];
  if (shaped.text.text().isEmpty()) shape(shaped, painter, text);
  return shaped;
}

void ShortTexts::shape(Shaped& shaped, QPainter& painter, const QString& shown) {
  shaped.text.setTextFormat(Qt::PlainText);
  shaped.text.setText(shown);
  shaped.text.prepare(painter.transform(), painter.font());
  shaped.width = painter.fontMetrics().horizontalAdvance(shown);
}

int ShortTexts::width_of(QPainter& painter, const std::string& words) {
  return words.empty() ? 0 : whole(painter, QString::fromStdString(words)).width;
}

void ShortTexts::draw(QPainter& painter, const QRect& box, const std::string& words,
                      const QColor& pen, Qt::Alignment alignment) {
  if (box.isEmpty() || words.empty()) return;
  const QString text = QString::fromStdString(words);
  const QFontMetrics metrics = painter.fontMetrics();
  Shaped* shaped = &whole(painter, text);
  if (shaped->width > box.width()) {
    const int room = box.width() / kGrain * kGrain;
    shaped = &face_of(painter.font()).cut[{text, room}];
    if (shaped->text.text().isEmpty())
      shape(*shaped, painter, metrics.elidedText(text, Qt::ElideRight, room));
  }
  // Fewer letters with an ellipsis would tell the user nothing.
  if (const QString& shown = shaped->text.text();
      shown != text && shown.size() <= std::min<qsizetype>(kFewLetters, text.size() - 1))
    return;
  const int room = box.width() - shaped->width;
  const int left = alignment & Qt::AlignRight ? room : alignment & Qt::AlignHCenter ? room / 2 : 0;
  painter.setPen(pen);
  painter.drawStaticText(box.left() + left, box.top() + (box.height() - metrics.height()) / 2,
                         shaped->text);
}

}  // namespace tutti::gui
