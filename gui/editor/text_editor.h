#pragma once

#include <QPlainTextEdit>
#include <vector>

#include "core/edit/field_edits.h"
#include "gui/model/scenario_check.h"

namespace tutti::gui {

/// The text of a scenario, with line numbers and what is wrong underlined. Its bytes are UTF-8 with '\n' at the end of a line;
/// all places are bytes of that.
class TextEditor : public QPlainTextEdit {
  Q_OBJECT

 public:
  explicit TextEditor(QWidget* parent = nullptr);

  [[nodiscard]] std::string utf8() const;
  void set_utf8(const std::string& text);
  /// One step for undo.
  void apply(const core::TextEdits& edits);
  void underline(std::vector<core::ScenarioText::Range> problems);
  /// Shows which part of the text a field of the form is; {0, 0}: none.
  void show_range(core::ScenarioText::Range range);
  [[nodiscard]] std::size_t cursor_byte() const;
  /// Puts the cursor there.
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
