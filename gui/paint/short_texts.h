#pragma once

#include <QFont>
#include <QHash>
#include <QPainter>
#include <QStaticText>
#include <string>
#include <utility>

namespace tutti::gui {

/// Draws one-line texts in boxes, with an ellipsis if a text does not fit. Shaped texts are cached,
/// because a frame with a thousand spans repeats a few dozen texts, and shaping a text costs more
/// than drawing it. Not thread-safe.
class ShortTexts {
 public:
  void draw(QPainter& painter, const QRect& box, const std::string& words, const QColor& pen,
            Qt::Alignment alignment);
  /// Returns the width in pixels of a text in the painter's font.
  [[nodiscard]] int width_of(QPainter& painter, const std::string& words);

 private:
  struct Shaped {
    QStaticText text;
    int width = 0;
  };
  struct Face {
    QFont font;
    QHash<QString, Shaped> whole;
    QHash<std::pair<QString, int>, Shaped> cut;  ///< shortened texts, by text and available width
  };

  [[nodiscard]] Face& face_of(const QFont& font);
  /// Returns the shaped text, from the cache if it is there.
  [[nodiscard]] Shaped& whole(QPainter& painter, const QString& text);
  static void shape(Shaped& shaped, QPainter& painter, const QString& shown);

  Face faces_[2];  ///< plain and bold
};

}  // namespace tutti::gui
