// Opening, reloading and exporting in the main window. Files are opened in the background.
// FileOpener reports a timeline, a scenario, a sweep or a failure. `second_` and `run_opened_`
// store what to do when the file is open: compare it with a second timeline, or run it.

#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QMimeData>
#include <QProgressBar>
#include <QSaveFile>
#include <QStackedWidget>
#include <utility>

#include "core/scenario/run_info.h"
#include "gui/editor/form_view.h"
#include "gui/editor/scenario_editor.h"
#include "gui/sweep/sweep_panel.h"
#include "gui/widgets/headline_strip.h"
#include "gui/widgets/marks_panel.h"
#include "gui/widgets/notice_bar.h"
#include "gui/widgets/numbers_panel.h"
#include "gui/widgets/overview_strip.h"
#include "gui/widgets/recent_files.h"
#include "gui/window/comparison_panel.h"
#include "gui/window/main_window.h"

namespace tutti::gui {

void MainWindow::choose_file() {
  const QString chosen = QFileDialog::getOpenFileName(
      this, tr("Open a timeline, a scenario or a sweep"), {},
      tr("Timelines, scenarios and sweeps (*.tutti *.textproto *.json *.sweep);;All files (*)"));
  if (!chosen.isEmpty()) open(chosen);
}

void MainWindow::open(const QString& path) {
  run_opened_ = false;
  begin_to_open(path);
}

void MainWindow::open_and_run(const QString& path) {
  run_opened_ = true;
  begin_to_open(path);
}

void MainWindow::reload() {
  if (!view_->trace() || shown_.isEmpty())
    return tell(tr("open a timeline first; then you can reload the timeline"));
  if (!view_->trace()->parts()) {
    open(shown_);
    reloading_ = true;
    return;
  }
  open_both(shown_, comparison_->second_path());
  compared_range_ = view_->view().range();
}

void MainWindow::offer_reload(const QString& path) {
  notice_->offer(tr("%1 has changed on disk. The window shows the content before this change.")
                     .arg(QFileInfo(path).fileName()),
                 tr("&Reload (Ctrl+R)"), [this] { reload(); });
}

void MainWindow::begin_to_open(const QString& path) {
  reloading_ = false;
  compared_range_.reset();
  progress_->setValue(0);
  progress_->show();
  second_.clear();
  tell(tr("opening %1 …").arg(path));
  opener_.open(path, FileOpener::Wanted::kAnything);
}

void MainWindow::give_up(const QString& why) {
  progress_->hide();
  tell(why);
  emit failed(why);
}

void MainWindow::open_scenario(const ScenarioBytes& file) {
  progress_->hide();
  tell({});
  const auto opened = session_->open(file);
  if (!opened) return give_up(QString::fromStdString(opened.error().message()));
  if (!*opened) return;
  remember_file(file.path);
  show_editor_session();
  if (run_opened_) return session_->run();
  // Wait for the check, because the picture has to show the summary and the problems of the
  // scenario.
  connect(&session_->editor(), &ScenarioEditor::checked, this, &MainWindow::opened,
          Qt::SingleShotConnection);
}

void MainWindow::start_new() {
  opener_.stop();
  if (session_->start_new()) show_editor_session();
}

void MainWindow::offer_recovery(bool say) {
  bool nothing = false;
  if (session_->recover(&nothing)) show_editor_session();
  if (nothing && say) tell(tr("there are no unsaved changes to recover"));
}

/// Shows the scenario. The scenario fills the window until there is a timeline.
void MainWindow::show_editor_session() {
  stack_->setVisible(view_->trace() != nullptr);
  session_->show();
  session_->editor().form().setFocus();
}

void MainWindow::open_both(const QString& first, const QString& second) {
  open(first);
  second_ = second;
}

void MainWindow::choose_second() {
  const QString chosen = QFileDialog::getOpenFileName(this, tr("Open a second timeline to compare"),
                                                      {}, tr("Timelines (*.tutti);;All files (*)"));
  if (chosen.isEmpty()) return;
  progress_->setValue(0);
  progress_->show();
  comparison_->open(chosen);
}

void MainWindow::show_trace(const std::shared_ptr<const Trace>& trace, const QString& path) {
  progress_->hide();
  stack_->setCurrentIndex(1);
  stack_->show();
  show_panels();
  overview_->show_trace(trace);
  headline_->show_trace(trace);
  if (std::exchange(reloading_, false) && path == shown_) {
    view_->replace_trace(trace, view_->view().range());
  } else {
    view_->show_trace(trace);
  }
  view_->setFocus();
  shown_ = path;
  notice_->hide();
  watch_.watch(path, trace->stamp());
  second_watch_.watch({});
  const bool from_session = session_->made(path) || sweep_->made(path);
  if (sweep_->made(path)) session_->hide();
  if (!from_session && !session_->isVisible())
    setWindowTitle(tr("%1 — Tutti").arg(QFileInfo(path).fileName()));
  QString status_message = tr("%1 spans in %2 rows").arg(trace->spans()).arg(trace->rows().size());
  if (!trace->complete())
    status_message += tr("; the file %1").arg(QString::fromStdString(trace->damage()));
  // Show the notes that report that a part of the run was not recorded.
  for (const std::string& note : trace->run().notes) {
    if (core::is_recording_note(note))
      status_message += QStringLiteral("; ") + QString::fromStdString(note);
  }
  tell(status_message);
  hide_topology(false);
  marks_->open_marks_of(path);
  if (!from_session) remember_file(path);
  comparison_->set_first(trace, path);
  if (!second_.isEmpty()) return comparison_->open(std::exchange(second_, QString()));
  emit opened();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls() && event->mimeData()->urls().front().isLocalFile())
    event->acceptProposedAction();
}

/// If two files are dropped, the second one is compared with the first.
void MainWindow::dropEvent(QDropEvent* event) {
  const QList<QUrl> files = event->mimeData()->urls();
  if (files.size() > 1) return open_both(files[0].toLocalFile(), files[1].toLocalFile());
  open(files.front().toLocalFile());
}

QString MainWindow::proposed_name(const QString& ending) const {
  const QString path =
      exports_sweep() && sweep_->data() ? QString::fromStdString(sweep_->data()->path) : shown_;
  if (path.isEmpty()) return {};
  const QFileInfo file(path);
  const bool temporary = session_->made(path) || sweep_->made(path);
  return (temporary ? QString() : file.path() + QLatin1Char('/')) + file.completeBaseName() +
         ending;
}

void MainWindow::export_picture(const QString& path) {
  if (path.isEmpty()) return;
  const QString wrong = write_shown(path);
  tell(wrong.isEmpty() ? tr("wrote %1").arg(path) : wrong);
}

void MainWindow::export_numbers(const QString& path) {
  const bool sweep = exports_sweep();
  if (path.isEmpty() || (!sweep && !view_->trace())) return;
  QSaveFile file(path);
  const QByteArray numbers = sweep ? sweep_->csv() : numbers_->csv().toUtf8();
  const bool written = file.open(QIODevice::WriteOnly) && file.write(numbers) >= 0 && file.commit();
  tell(written ? tr("wrote %1").arg(path) : tr("%1 cannot be written").arg(path));
}

}  // namespace tutti::gui
