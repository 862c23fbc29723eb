#include "gui/editor/editor_session.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QKeyEvent>
#include <QLineEdit>
#include <QSaveFile>
#include <QVBoxLayout>
#include <utility>

#include "gui/editor/run_bar.h"
#include "gui/editor/scenario_editor.h"
#include "gui/trace/marks.h"
#include "gui/widgets/notice_bar.h"

namespace tutti::gui {

EditorSession::EditorSession(Executors executors, QWidget* parent)
    : QWidget(parent),
      executors_(std::move(executors)),
      editor_(new ScenarioEditor(executors_.library, executors_.recovery_folder)),
      bar_(new RunBar(executors_.backends)),
      notice_(new NoticeBar) {
  auto* const layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2);
  layout->addWidget(notice_);
  layout->addWidget(bar_);
  layout->addWidget(editor_, 1);
  connect(bar_, &RunBar::run_wanted, this, &EditorSession::run);
  connect(bar_, &RunBar::stop_wanted, this, &EditorSession::stop);
  connect(editor_, &ScenarioEditor::status_message, this, &EditorSession::status_message);
  connect(editor_, &ScenarioEditor::title_changed, this, &EditorSession::show_title);
  connect(&watch_, &FileWatch::changed, this, &EditorSession::offer_reload);
  // The error of a run refers to the text that was executed, so an edit of the text clears the
  // error.
  connect(editor_, &ScenarioEditor::edited, this, [this] {
    if (running()) return;
    bar_->show_words({});
    if (!error_words_.isEmpty()) emit message_outdated(std::exchange(error_words_, {}));
  });
  connect(&run_, &ScenarioRun::progress, bar_, &RunBar::show_progress);
  connect(&run_, &ScenarioRun::ended, this, &EditorSession::show_result);
}

EditorSession::~EditorSession() { run_.stop_and_wait(); }

// --- files ---

/// Copies a file completely, or leaves `to` unchanged. Returns an error message; empty on success.
static QString copy_whole(const QString& from, const QString& to) {
  QFile source(from);
  QSaveFile made(to);
  if (!source.open(QIODevice::ReadOnly)) return source.errorString();
  if (!made.open(QIODevice::WriteOnly)) return made.errorString();
  constexpr qint64 kPiece = 1 << 20;
  for (QByteArray piece = source.read(kPiece); !piece.isEmpty(); piece = source.read(kPiece)) {
    if (made.write(piece) != piece.size()) return made.errorString();
  }
  if (source.error() != QFileDevice::NoError) return source.errorString();
  return made.commit() ? QString() : made.errorString();
}

static QString marks_file(const QString& timeline) {
  return QString::fromStdString(Marks::path_of(timeline.toStdString()));
}

core::Expected<bool> EditorSession::open(const ScenarioBytes& file) {
  if (!editor_->may_close()) return false;
  if (auto opened = editor_->open(file); !opened) return tl::make_unexpected(opened.error());
  if (!running()) bar_->show_words({});
  return true;
}

bool EditorSession::start_new() { return start_from(executors_.new_scenario); }

bool EditorSession::start_from(const std::string& text) {
  if (!editor_->may_close()) return false;
  editor_->start_new(text);
  return true;
}

bool EditorSession::recover(bool* nothing_left) { return editor_->recover(nothing_left); }

bool EditorSession::may_close() {
  if (!editor_->may_close()) return false;
  editor_->forget_changes();
  run_.stop_and_wait();
  bar_->show_running(false);
  return true;
}

/// Offers to reload the scenario if another program has changed its file.
void EditorSession::offer_reload() {
  if (!editor_->changed_on_disk()) return;
  QString text = tr("%1 has changed on disk.").arg(editor_->title());
  if (editor_->changed()) text += tr(" Reloading replaces your changes; undo brings them back.");
  notice_->offer(text, tr("&Reload (Ctrl+R)"), [this] {
    auto read = ScenarioBytes::read(editor_->path()).and_then([this](const ScenarioBytes& file) {
      return editor_->reload(file);
    });
    if (!read) emit status_message(QString::fromStdString(read.error().message()));
  });
}

void EditorSession::show_title() {
  const bool changed = editor_->changed();
  // If the same file is already watched, do not start to watch it again, because a change since the
  // file was read would then be missed. A change that this window has saved does not count for
  // changed_on_disk(), so no reload is offered.
  if (watch_.path() != editor_->path()) watch_.watch(editor_->path(), editor_->file_stamp());
  if (!editor_->changed_on_disk()) notice_->hide();
  const QString title = editor_->is_example() ? tr("%1 (copy of an example)").arg(editor_->title())
                                              : editor_->title();
  bar_->show_title(title + (changed ? QStringLiteral(" *") : QString()));
  emit title_changed(title, changed);
}

bool EditorSession::made(const QString& path) const {
  return QFileInfo(path).absolutePath() == QFileInfo(folder_.path()).absoluteFilePath();
}

void EditorSession::save_timeline() {
  if (last_.isEmpty()) return emit status_message(tr("nothing has run yet (F5 runs the scenario)"));
  const QString chosen =
      QFileDialog::getSaveFileName(this, tr("Save the timeline of the run"),
                                   QFileInfo(last_).fileName(), tr("Timelines (*.tutti)"));
  if (chosen.isEmpty()) return;
  save_timeline_to(chosen);
}

bool EditorSession::save_timeline_to(const QString& path) {
  if (const QString wrong = copy_whole(last_, path); !wrong.isEmpty()) {
    emit status_message(tr("%1 cannot be written: %2").arg(path, wrong));
    return false;
  }
  // Also copy the user's marks on the timeline.
  const QString marks = marks_file(last_);
  const QString wrong = QFileInfo::exists(marks) ? copy_whole(marks, marks_file(path)) : QString();
  emit status_message(wrong.isEmpty()
                          ? tr("wrote %1").arg(path)
                          : tr("wrote %1, but its marks could not be copied: %2").arg(path, wrong));
  return wrong.isEmpty();
}

// --- runs ---

QString EditorSession::next_timeline() const {
  const QString name = QFileInfo(editor_->title()).completeBaseName();
  QString path = folder_.filePath(name + QStringLiteral(".tutti"));
  for (int number = 2; QFileInfo::exists(path); ++number)
    path = folder_.filePath(QStringLiteral("%1 (run %2).tutti").arg(name).arg(number));
  return path;
}

void EditorSession::run() {
  if (running()) return emit status_message(tr("the scenario is running; Shift+F5 stops it"));
  const Backend* const backend = bar_->backend();
  if (!backend) {
    bar_->show_words(bar_->why());
    return emit status_message(bar_->why());
  }
  if (!folder_.isValid()) return bar_->show_words(folder_.errorString());
  editor_->finish_edit();
  emit status_message({});  // clears the previous error
  bar_->show_running(true);
  bar_->show_words(QString::fromStdString(backend->doing) + QStringLiteral(" …"));
  qApp->installEventFilter(this);
  run_.start({*backend, editor_->text(), editor_->path().toStdString(), executors_.library,
              next_timeline().toStdString()});
}

void EditorSession::stop() {
  if (!running()) return emit status_message(tr("nothing is running"));
  bar_->show_words(tr("stopping …"));
  run_.stop();
}

/// While a scenario runs, Esc stops the run, unless a menu, dialog or text field needs the key.
bool EditorSession::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::ShortcutOverride || !running())
    return QWidget::eventFilter(watched, event);
  const auto* const key = static_cast<QKeyEvent*>(event);
  const bool elsewhere = QApplication::activePopupWidget() || QApplication::activeModalWidget() ||
                         qobject_cast<QLineEdit*>(QApplication::focusWidget());
  if (key->key() != Qt::Key_Escape || key->modifiers() != Qt::NoModifier || elsewhere) return false;
  stop();
  event->accept();
  return true;
}

void EditorSession::show_result(const ScenarioRun::Result& result) {
  qApp->removeEventFilter(this);
  bar_->show_running(false);
  QString words;
  if (result.error) {
    editor_->show_error(*result.error);
    words = QString::fromStdString(result.error->message());
    error_words_ = words;
  } else if (result.stopped) {
    words = result.timeline.isEmpty() ? tr("the run was stopped before a training step ended")
                                      : tr("the run was stopped; the completed steps are shown");
  }
  bar_->show_words(words);
  if (!words.isEmpty()) emit status_message(words);
  if (result.timeline.isEmpty()) return emit run_failed(words);
  if (!last_.isEmpty()) previous_ = last_;
  last_ = result.timeline;
  emit timeline_made(last_);
}

void EditorSession::add_actions(Actions& actions) {
  const QString group = tr("Sc&enario");
  actions.add(group, "run", tr("R&un"), QStringLiteral("F5"), [this] { run(); });
  actions.add(group, "stop", tr("St&op the run (or Esc)"), QStringLiteral("Shift+F5"),
              [this] { stop(); });
  actions.add(group, "save", tr("&Save"), QStringLiteral("Ctrl+S"), [this] { editor_->save(); });
  actions.add(group, "save-as", tr("Save &as…"), QStringLiteral("Ctrl+Shift+S"),
              [this] { editor_->save_as(); });
  actions.add(group, "save-timeline", tr("Save the timeline of the run…"),
              QStringLiteral("Ctrl+Alt+S"), [this] { save_timeline(); });
  editor_->add_actions(actions);
}

}  // namespace tutti::gui
