#pragma once

#include <QFont>
#include <QHash>
#include <QPainter>
#include <QStaticText>
#include <string>
#include <utility>

namespace tutti::gui {

/// Draws texts in boxes, on one line, with an ellipsis if there is not enough room. Shaped texts
/// are cached: a frame with a thousand spans shows the same few dozen texts again and again, and
/// shaping a text costs more than drawing it. For one painter at a time.
class ShortTexts {
 public:
  void draw(QPainter& painter, const QRect& box, const std::string& words, const QColor& pen,
            Qt::Alignment alignment);

 private:
  struct Shaped {
    QStaticText text;
    int width = 0;
  };
  struct Face {
    QFont font;
    QHash<QString, Shaped> whole;
    QHash<std::pair<QString, int>, Shaped> cut;  ///< shortened texts by the available width
  };

  [[nodiscard]] Face& face_of(const QFont& font);

  Face faces_[2];  ///< plain and bold
};

}  // namespace tutti::gui
