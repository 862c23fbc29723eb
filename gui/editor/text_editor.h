#pragma once

#include <QPlainTextEdit>
#include <vector>

#include "core/edit/field_edits.h"
#include "gui/documents/scenario_check.h"

namespace tutti::gui {

/// An editor of a scenario's text, with line numbers and underlined problems. The text is UTF-8
/// with '\n' at the end of each line. All positions are byte offsets.
class TextEditor : public QPlainTextEdit {
  Q_OBJECT

 public:
  explicit TextEditor(QWidget* parent = nullptr);

  [[nodiscard]] std::string utf8() const;
  void set_utf8(const std::string& text);
  /// Applies edits as one undo step.
  void apply(const core::TextEdits& edits);
  void underline(std::vector<core::ScenarioText::Range> problems);
  /// Highlights the part of the text that belongs to a field of the form. The range {0, 0} removes
  /// the highlight.
  void show_range(core::ScenarioText::Range range);
  [[nodiscard]] std::size_t cursor_byte() const;
  /// Moves the cursor to a byte offset.
  void go_to(std::size_t byte);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  [[nodiscard]] bool canInsertFromMimeData(const QMimeData* source) const override;
  void insertFromMimeData(const QMimeData* source) override;

 private:
  friend class LineNumbers;
  void update_marks();
  void paint_line_numbers(QPaintEvent* event);
  [[nodiscard]] int margin_width() const;
  [[nodiscard]] QTextCursor cursor(core::ScenarioText::Range range) const;

  QWidget* margin_;
  std::vector<core::ScenarioText::Range> problems_;
  core::ScenarioText::Range shown_;
};

}  // namespace tutti::gui
