#include "gui/editor/text_editor.h"

#include <QDragEnterEvent>
#include <QFontDatabase>
#include <QMimeData>
#include <QPainter>
#include <QSyntaxHighlighter>
#include <QTextBlock>

namespace tutti::gui {

/// The margin with the line numbers of a text.
class LineNumbers : public QWidget {
 public:
  explicit LineNumbers(TextEditor& editor) : QWidget(&editor), editor_(editor) {}

 protected:
  void paintEvent(QPaintEvent* event) override { editor_.paint_line_numbers(event); }

 private:
  TextEditor& editor_;
};

namespace {

/// Draws comments in a fainter colour than fields. (This is also correct for JSON, in which a '#'
/// outside of a string is an error.)
class CommentHighlighter : public QSyntaxHighlighter {
 public:
  explicit CommentHighlighter(TextEditor& editor)
      : QSyntaxHighlighter(editor.document()), editor_(editor) {}

 protected:
  void highlightBlock(const QString& text) override {
    QChar quote;
    for (qsizetype i = 0; i < text.size(); ++i) {
      const QChar c = text[i];
      if (quote.isNull()) {
        if (c == QLatin1Char('"') || c == QLatin1Char('\'')) quote = c;
        if (c != QLatin1Char('#')) continue;
        setFormat(static_cast<int>(i), static_cast<int>(text.size() - i),
                  editor_.palette().color(QPalette::PlaceholderText));
        return;
      }
      if (c == QLatin1Char('\\')) {
        ++i;
      } else if (c == quote) {
        quote = QChar();
      }
    }
  }

 private:
  TextEditor& editor_;
};

constexpr int kMarginSpace = 6;

}  // namespace

TextEditor::TextEditor(QWidget* parent) : QPlainTextEdit(parent), margin_(new LineNumbers(*this)) {
  setAccessibleName(tr("Scenario as text"));
  setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
  setTabChangesFocus(
      true);  // the text format needs no tabs, and keyboard users must be able to leave the editor
  new CommentHighlighter(*this);
  connect(this, &QPlainTextEdit::blockCountChanged, this,
          [this] { setViewportMargins(margin_width(), 0, 0, 0); });
  connect(this, &QPlainTextEdit::updateRequest, this, [this](const QRect& rect, int dy) {
    if (dy != 0) return margin_->scroll(0, dy);
    margin_->update(0, rect.y(), margin_->width(), rect.height());
  });
  setViewportMargins(margin_width(), 0, 0, 0);
}

std::string TextEditor::utf8() const {
  // toRawText() is used because toPlainText() would convert no-break spaces to spaces.
  return document()
      ->toRawText()
      .replace(QChar::ParagraphSeparator, QLatin1Char('\n'))
      .toStdString();
}

void TextEditor::set_utf8(const std::string& text) {
  problems_.clear();
  shown_ = {};
  setPlainText(QString::fromStdString(text));
  setViewportMargins(margin_width(), 0, 0, 0);
}

QTextCursor TextEditor::cursor(core::ScenarioText::Range range) const {
  const std::string text = utf8();
  const auto position = [&](std::size_t byte) {
    return static_cast<int>(QString::fromStdString(text.substr(0, byte)).size());
  };
  QTextCursor made(document());
  made.setPosition(position(range.from));
  made.setPosition(position(range.to), QTextCursor::KeepAnchor);
  return made;
}

void TextEditor::apply(const core::TextEdits& edits) {
  std::vector<QTextCursor> places;
  for (const core::TextEdit& edit : edits)
    places.push_back(cursor({edit.at, edit.at + edit.removed}));
  QTextCursor whole(document());
  whole.beginEditBlock();
  for (std::size_t i = edits.size(); i-- > 0;)
    places[i].insertText(QString::fromStdString(edits[i].inserted));
  whole.endEditBlock();
}

void TextEditor::underline(std::vector<core::ScenarioText::Range> problems) {
  problems_ = std::move(problems);
  update_marks();
}

void TextEditor::show_range(core::ScenarioText::Range range) {
  shown_ = range;
  update_marks();
  if (range.to == 0) return;
  const QTextCursor there = cursor({range.from, range.from});
  if (cursorRect(there).top() >= 0 && cursorRect(there).bottom() <= viewport()->height()) return;
  const QTextCursor before = textCursor();
  const QSignalBlocker quiet(this);
  setTextCursor(there);
  centerCursor();
  setTextCursor(before);
}

std::size_t TextEditor::cursor_byte() const {
  return static_cast<std::size_t>(
      document()->toRawText().left(textCursor().position()).toUtf8().size());
}

void TextEditor::go_to(std::size_t byte) {
  setTextCursor(cursor({byte, byte}));
  centerCursor();
  setFocus();
}

void TextEditor::update_marks() {
  QList<QTextEdit::ExtraSelection> marks;
  if (shown_.to > 0) {
    QTextEdit::ExtraSelection mark;
    QColor tint = palette().color(QPalette::Highlight);
    tint.setAlpha(50);
    mark.format.setBackground(tint);
    mark.cursor = cursor(shown_);
    marks.append(mark);
  }
  for (const core::ScenarioText::Range& problem : problems_) {
    if (problem.to == 0) continue;
    QTextEdit::ExtraSelection mark;
    mark.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
    mark.format.setUnderlineColor(QColor(0xd5, 0x5e, 0x00));
    mark.cursor = cursor(problem);
    marks.append(mark);
  }
  setExtraSelections(marks);
}

/// Rejects dropped files; the window opens such files, but the text editor would insert their
/// names.
void TextEditor::dragEnterEvent(QDragEnterEvent* event) {
  if (!event->mimeData() || event->mimeData()->hasUrls()) return event->ignore();
  QPlainTextEdit::dragEnterEvent(event);
}

bool TextEditor::canInsertFromMimeData(const QMimeData* source) const {
  return source && source->hasText();
}

/// Qt calls this function for every kind of pasting: by keys, by the menu, by the middle mouse
/// button, and by dropping. The clipboard may have no data or no text. Do not insert an empty
/// clipboard, because Qt 6.4 (tested with 6.4.2) would crash.
void TextEditor::insertFromMimeData(const QMimeData* source) {
  if (canInsertFromMimeData(source)) QPlainTextEdit::insertFromMimeData(source);
}

int TextEditor::margin_width() const {
  const auto digits = static_cast<int>(QString::number(blockCount()).size());
  return fontMetrics().horizontalAdvance(QLatin1Char('9')) * digits + 2 * kMarginSpace;
}

void TextEditor::resizeEvent(QResizeEvent* event) {
  QPlainTextEdit::resizeEvent(event);
  const QRect all = contentsRect();
  margin_->setGeometry(all.left(), all.top(), margin_width(), all.height());
}

void TextEditor::changeEvent(QEvent* event) {
  QPlainTextEdit::changeEvent(event);
  if (event->type() != QEvent::PaletteChange) return;
  for (auto* const remarks : document()->findChildren<QSyntaxHighlighter*>())
    remarks->rehighlight();
}

void TextEditor::paint_line_numbers(QPaintEvent* event) {
  QPainter painter(margin_);
  painter.fillRect(event->rect(), palette().color(QPalette::AlternateBase));
  painter.setFont(font());
  painter.setPen(palette().color(QPalette::PlaceholderText));
  QTextBlock line = firstVisibleBlock();
  QRectF place = blockBoundingGeometry(line).translated(contentOffset());
  while (line.isValid() && place.top() <= event->rect().bottom()) {
    const QRect text(0, static_cast<int>(place.top()), margin_->width() - kMarginSpace,
                     fontMetrics().height());
    painter.drawText(text, Qt::AlignRight, QString::number(line.blockNumber() + 1));
    line = line.next();
    place = blockBoundingGeometry(line).translated(contentOffset());
  }
}

}  // namespace tutti::gui
