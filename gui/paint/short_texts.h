#pragma once

#include <QFont>
#include <QHash>
#include <QPainter>
#include <QStaticText>
#include <string>
#include <utility>

namespace tutti::gui {

/// Draws texts in boxes, on one line, cut with an ellipsis where there is no room. What a text looks like is worked out once:
/// a frame that shows a thousand spans shows the same few dozen texts again and again, as did the frame before it, and to
/// work that out costs more than to draw it. For one painter at a time.
class ShortTexts {
 public:
  void draw(QPainter& painter, const QRect& box, const std::string& words, const QColor& pen, Qt::Alignment alignment);

 private:
  struct Shaped {
    QStaticText text;
    int width = 0;
  };
  struct Face {
    QFont font;
    QHash<QString, Shaped> whole;
    QHash<std::pair<QString, int>, Shaped> cut;  ///< by the room there is
  };

  [[nodiscard]] Face& face_of(const QFont& font);

  Face faces_[2];  ///< plain, bold
};

}  // namespace tutti::gui
