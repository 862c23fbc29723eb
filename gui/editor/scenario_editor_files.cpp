// The file of the scenario that is edited: opening, reloading and saving it, and recovering text
// that an earlier window has not saved. The recovery file is written one second after a change.

#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>
#include <QLocale>
#include <QMessageBox>
#include <QPushButton>
#include <QTextDocument>
#include <QTimer>

#include "gui/documents/examples.h"
#include "gui/editor/form_model.h"
#include "gui/editor/form_view.h"
#include "gui/editor/scenario_editor.h"
#include "gui/editor/text_editor.h"

namespace tutti::gui {

bool ScenarioEditor::has_file() const { return !file_.path.isEmpty(); }
QString ScenarioEditor::path() const {
  return has_file() ? file_.path : QStringLiteral("untitled.textproto");
}
QString ScenarioEditor::title() const { return QFileInfo(path()).fileName(); }
bool ScenarioEditor::changed() const { return text_->document()->isModified(); }
std::string ScenarioEditor::text() const { return text_->utf8(); }

core::Expected<void> ScenarioEditor::open(const ScenarioBytes& file) {
  const auto text = file_.take(file);
  if (!text) return tl::make_unexpected(text.error());
  set_text(*text);
  for (LeftBehind& left : left_behind(recovery_folder_, file.path)) {
    const Answer answer = left.unsaved().text == *text ? Answer::kDiscard : ask_about(left);
    if (answer == Answer::kDiscard) left.discard();
    if (answer == Answer::kRecover) take_over(left);
    if (answer == Answer::kRecover) break;
  }
  return {};
}

core::Expected<void> ScenarioEditor::reload(const ScenarioBytes& file) {
  const auto read = file_.take(file);
  if (!read) return tl::make_unexpected(read.error());
  text_->apply({{0, text().size(), *read}});
  text_->document()->setModified(false);
  forget_changes();
  emit title_changed();
  return {};
}

void ScenarioEditor::start_new(const std::string& text) {
  file_ = {};
  set_text(text);
}

void ScenarioEditor::set_text(const std::string& text) {
  show_problems({});
  show_card(std::nullopt);
  text_->set_utf8(text);
  text_->document()->setModified(false);
  forget_changes();
  checker_.check(text, path().toStdString(), Checker::When::kAtOnce);
  auto now = std::make_shared<core::ScenarioText>(text, schema_);
  if (now->broken()) now = std::make_shared<core::ScenarioText>("", schema_);
  model_->begin_text(now);
  follow_text();
  filter_->clear();
  // Expand the sections of the form that occur in the text.
  for (int row = 0; row < model_->rowCount(); ++row) {
    const QModelIndex section = model_->index(row, 0);
    if (model_->written(section)) form_->expand(section);
  }
  const QModelIndex first = model_->index_of({{"cluster", 0}, {"workers", 0}});
  if (model_->written(first)) form_->expand(first.parent());
  form_->setCurrentIndex(model_->index(0, 0));
  emit title_changed();
}

void ScenarioEditor::finish_edit() { form_->finish_edit(); }

bool ScenarioEditor::may_close() {
  finish_edit();
  if (!changed()) return true;
  QMessageBox question(QMessageBox::Question, tr("Tutti"),
                       tr("Save the changes of %1?").arg(title()),
                       QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
  question.setInformativeText(tr("Otherwise they are lost."));
  switch (question.exec()) {
    case QMessageBox::Save: return save();
    case QMessageBox::Discard: return true;
    default: return false;
  }
}

bool ScenarioEditor::is_example() const {
  return gui::is_example(file_.path.toStdString(), library_.folder());
}

bool ScenarioEditor::save() {
  finish_edit();
  return !has_file() || is_example() ? save_as() : save_to(file_.path);
}

bool ScenarioEditor::save_as() {
  finish_edit();
  const QString chosen =
      QFileDialog::getSaveFileName(this, tr("Save the scenario"), is_example() ? title() : path(),
                                   tr("Scenarios (*.textproto *.json);;All files (*)"));
  return !chosen.isEmpty() && save_to(chosen);
}

bool ScenarioEditor::save_to(const QString& path) {
  if (gui::is_example(path.toStdString(), library_.folder())) {
    emit status_message(
        tr("%1 is an example and read-only: choose another name or folder").arg(path));
    return false;
  }
  if (path == file_.path && file_.changed_meanwhile()) {
    QMessageBox question(QMessageBox::Warning, tr("Tutti"),
                         tr("%1 was changed by another program.").arg(title()),
                         QMessageBox::Save | QMessageBox::Cancel, this);
    question.setInformativeText(tr("Saving overwrites those changes."));
    if (question.exec() != QMessageBox::Save) return false;
  }
  if (const auto written = file_.write(text(), path); !written) {
    emit status_message(QString::fromStdString(written.error().message()));
    return false;
  }
  text_->document()->setModified(false);
  forget_changes();
  emit status_message(tr("saved %1").arg(path));
  emit title_changed();
  checker_.check(text(), this->path().toStdString());
  return true;
}

// --- unsaved changes ---

/// Updates the recovery file to match the text.
void ScenarioEditor::keep_changes() {
  keep_->stop();
  if (!changed()) return recovery_.remove();
  const auto kept = recovery_.keep(unsaved());
  if (!kept && !keeping_failed_)
    emit status_message(tr("unsaved changes cannot be stored for recovery: %1")
                            .arg(QString::fromStdString(kept.error().message())));
  keeping_failed_ = !kept;
}

UnsavedText ScenarioEditor::unsaved() const {
  return {file_.path, file_.stamp, file_.byte_order_mark, file_.crlf, text()};
}

void ScenarioEditor::forget_changes() {
  keep_->stop();
  recovery_.remove();
}

ScenarioEditor::Answer ScenarioEditor::ask_about(const LeftBehind& left) {
  const QString& path = left.unsaved().path;
  const QString name =
      path.isEmpty() ? tr("a scenario without a file") : QFileInfo(path).fileName();
  QMessageBox question(QMessageBox::Question, tr("Tutti"),
                       tr("Recover unsaved changes of %1?").arg(name),
                       QMessageBox::Yes | QMessageBox::Discard | QMessageBox::Cancel, this);
  question.setInformativeText(
      tr("A window ended before the changes were saved. The last change was at %1.%2")
          .arg(QLocale().toString(left.kept(), QLocale::ShortFormat),
               path.isEmpty() ? QString() : QStringLiteral("\n") + path));
  question.button(QMessageBox::Yes)->setText(tr("&Recover"));
  question.button(QMessageBox::Cancel)->setText(tr("&Not now"));
  question.setDefaultButton(QMessageBox::Yes);
  switch (question.exec()) {
    case QMessageBox::Yes: return Answer::kRecover;
    case QMessageBox::Discard: return Answer::kDiscard;
    default: return Answer::kLater;
  }
}

/// Loads the file and replaces its text by the recovered text in one edit, so that undo restores
/// the file's text.
void ScenarioEditor::take_over(LeftBehind& left) {
  const UnsavedText& unsaved = left.unsaved();
  std::string before;  // content of the file, if it can be read
  ScenarioFile file{unsaved.path, {}, unsaved.byte_order_mark, unsaved.crlf};
  if (!unsaved.path.isEmpty()) {
    if (const auto read = ScenarioBytes::read(unsaved.path))
      before = file.take(*read).value_or(std::string());
  }
  // If another program has written the file after the recovery file was written, the user is asked
  // before the file is overwritten.
  file.stamp = unsaved.file_stamp;
  file_ = file;
  set_text(before);
  text_->apply({{0, before.size(), unsaved.text}});
  follow_text();
  keep_changes();
  left.discard();
  emit status_message(
      tr("recovered the unsaved changes of %1; save the file to keep them").arg(title()));
}

bool ScenarioEditor::recover(bool* nothing_left) {
  std::vector<LeftBehind> all = left_behind(recovery_folder_);
  if (nothing_left) *nothing_left = all.empty();
  for (LeftBehind& left : all) {
    const Answer answer = ask_about(left);
    if (answer == Answer::kDiscard) left.discard();
    if (answer != Answer::kRecover) continue;
    if (!may_close()) return false;
    take_over(left);
    return true;
  }
  return false;
}

}  // namespace tutti::gui
