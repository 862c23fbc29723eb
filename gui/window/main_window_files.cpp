// Opening, reloading and exporting in the main window. Files are opened in the background.
// FileOpener reports a timeline, a scenario, a sweep or a failure. `second_` and `run_opened_`
// store what to do when the file is open: compare it with a second timeline, or run it.

#include <QCoreApplication>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QLayout>
#include <QMimeData>
#include <QPushButton>
#include <QRegularExpression>
#include <QSaveFile>
#include <QSplitter>
#include <QStackedWidget>
#include <algorithm>
#include <utility>

#include "core/scenario/run_info.h"
#include "gui/editor/form_view.h"
#include "gui/editor/scenario_editor.h"
#include "gui/sweep/sweep_panel.h"
#include "gui/traffic/traffic.h"
#include "gui/widgets/headline_strip.h"
#include "gui/widgets/marks_panel.h"
#include "gui/widgets/notice_bar.h"
#include "gui/widgets/numbers_panel.h"
#include "gui/widgets/open_progress.h"
#include "gui/widgets/overview_strip.h"
#include "gui/widgets/recent_files.h"
#include "gui/widgets/search_bar.h"
#include "gui/widgets/time_cursor.h"
#include "gui/window/comparison_panel.h"
#include "gui/window/main_window.h"

namespace tutti::gui {

/// Shortens the times of a note, which are exact to the picosecond, to three decimals.
static QString shortened_note(const std::string& note) {
  static const QRegularExpression digits(QStringLiteral("(\\d\\.\\d{3})\\d+"));
  return QString::fromStdString(note).replace(digits, QStringLiteral("\\1"));
}

/// Returns true if the topology has more to show than the devices.
static bool has_traffic(const Trace& trace) {
  return !trace.links().empty() || !counter_names(trace).empty();
}

void MainWindow::choose_file() {
  const QString chosen = QFileDialog::getOpenFileName(
      this, tr("Open a timeline, a scenario or a sweep"), {},
      tr("Timelines, scenarios and sweeps (*.tutti *.textproto *.json *.sweep);;All files (*)"));
  if (!chosen.isEmpty()) open(chosen);
}

void MainWindow::open(const QString& path) {
  reopened_ = {};
  open_file(path);
}

void MainWindow::open_file(const QString& path) {
  run_opened_ = false;
  begin_to_open(path);
}

void MainWindow::open_and_run(const QString& path) {
  reopened_ = {};
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

/// Reloads the scenario if the editor offers to reload it. Reloads the timeline unless only the
/// scenario has changed.
void MainWindow::reload_changed() {
  const bool is_scenario_offered = session_->isVisible() && session_->notice().isVisible();
  if (is_scenario_offered) session_->notice().button().click();
  if (!is_scenario_offered || notice_->offers()) reload();
}

void MainWindow::offer_reload(const QString& path) {
  notice_->offer(tr("%1 has changed on disk. The window shows the content before this change.")
                     .arg(QFileInfo(path).fileName()),
                 tr("&Reload (Ctrl+R)"), [this] { reload(); });
}

void MainWindow::begin_to_open(const QString& path) {
  reloading_ = false;
  compared_range_.reset();
  second_.clear();
  notice_->hide_report();
  const QString text = tr("opening %1 …").arg(QFileInfo(path).fileName());
  progress_->begin(text);
  tell(text);
  opener_.open(path, FileOpener::Wanted::kAnything);
}

void MainWindow::give_up(const QString& why) {
  reopened_ = {};
  progress_->end();
  tell(why);
  notice_->report(why);
  emit failed(why);
}

void MainWindow::open_scenario(const ScenarioBytes& file) {
  progress_->end();
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
  const bool was_hidden = session_->isHidden();
  session_->show();
  if (was_hidden) divide_width();
  session_->editor().form().setFocus();
  show_title();
}

/// Gives the timeline most of the width if a scenario is next to it.
void MainWindow::divide_width() {
  if (session_->isHidden() || stack_->isHidden() || !sweep_->isHidden()) return;
  constexpr int kNarrowest = 360, kWidest = 560;
  layout()->activate();  // the panels may just have taken a part of the width
  const int all = middle_->width();
  const int scenario = std::clamp(all * 33 / 100, kNarrowest, kWidest);
  middle_->setSizes({scenario, std::max(1, all - scenario), 0});
}

void MainWindow::open_both(const QString& first, const QString& second) {
  open(first);
  second_ = second;
}

void MainWindow::choose_second() {
  const QString chosen = QFileDialog::getOpenFileName(this, tr("Open a second timeline to compare"),
                                                      {}, tr("Timelines (*.tutti);;All files (*)"));
  if (chosen.isEmpty()) return;
  open_second(chosen);
}

void MainWindow::open_second(const QString& path) {
  progress_->begin(tr("opening %1 …").arg(QFileInfo(path).fileName()));
  comparison_->open(path);
}

/// Compares the last run of the editor with the run before it. If this comparison is already shown,
/// shows the last run alone.
void MainWindow::compare_with_last_run() {
  const QString last = session_->last_timeline(), before = session_->previous_timeline();
  if (before.isEmpty())
    return tell(last.isEmpty()
                    ? tr("run a scenario first (F5), change it, and run it again")
                    : tr("there is only one run; change the scenario, and run it again (F5)"));
  const bool is_shown =
      comparison_->comparison() && shown_ == before && comparison_->second_path() == last;
  is_shown ? open(last) : open_both(before, last);
}

/// Returns the headline's figure that compares the last run of the editor with the run before it;
/// nullopt for other timelines.
std::optional<HeadlineFigure> MainWindow::against_last_run(const Trace& trace,
                                                           const QString& path) {
  if (!session_->made(path)) return std::nullopt;
  const auto step = step_time_of(trace);
  if (!step) return std::nullopt;
  run_times_[path] = *step;
  const auto before = run_times_.find(session_->previous_timeline());
  if (path != session_->last_timeline() || before == run_times_.end()) return std::nullopt;
  return compared_with_last_run(before->second, *step);
}

LastSession MainWindow::shown_session() const {
  const auto lasting = [this](const QString& path) {
    const bool kept = !path.isEmpty() && !session_->made(path) && !sweep_->made(path);
    return kept ? QFileInfo(path).absoluteFilePath() : QString();
  };
  LastSession last;
  if (view_->trace()) last.timeline = lasting(shown_);
  if (!last.timeline.isEmpty()) {
    if (comparison_->comparison()) last.second = lasting(comparison_->second_path());
    last.range = view_->view().range();
    last.filter = search_->filter_text();
    last.moment = cursor_->moment();
  }
  if (session_->isVisible() && session_->editor().has_file())
    last.scenario = session_->editor().path();
  if (sweep_->isVisible() && sweep_->data())
    last.sweep = QString::fromStdString(sweep_->data()->path);
  return last;
}

/// Stores the open files for the next session, if they or the view have changed. A window without
/// files keeps the stored session.
void MainWindow::store_session() {
  if (!reopened_.empty()) return;  // some files of the stored session are not open yet
  LastSession now = shown_session();
  now.process = QCoreApplication::applicationPid();
  if (now.empty() || now == stored_) return;
  now.write();
  stored_ = now;
}

void MainWindow::offer_session() {
  LastSession last = LastSession::read();
  if (!last.was_interrupted() || session_->isVisible()) return;
  notice_->offer(tr("The last window was not closed properly. It showed %1.").arg(last.name()),
                 tr("&Continue (Ctrl+Shift+T)"), [this] { restore_session(); });
  last.process = 0;
  last.write();
}

void MainWindow::restore_session() {
  const LastSession last = LastSession::read();
  if (last.empty()) return tell(tr("there is no earlier session, or its files do not exist"));
  reopened_ = last;
  open_next_of_session();
}

/// Opens the next file of the session that is being restored. The timeline is opened last, because
/// it gets the keyboard focus.
void MainWindow::open_next_of_session() {
  if (reopened_.empty()) return;
  for (QString* const path : {&reopened_.sweep, &reopened_.scenario}) {
    if (path->isEmpty()) continue;
    connect(this, &MainWindow::opened, this, &MainWindow::open_next_of_session,
            Qt::SingleShotConnection);
    return open_file(std::exchange(*path, {}));
  }
  const LastSession last = std::exchange(reopened_, {});
  connect(
      this, &MainWindow::opened, this,
      [this, last] {
        // The user may have opened another file in the meantime.
        if (!view_->trace() || shown_ != last.timeline) return;
        search_->filter(last.filter);
        cursor_->set_moment(last.moment);
        if (last.range && last.range->from < view_->view().run_length())
          view_->show_range(*last.range);
      },
      Qt::SingleShotConnection);
  open_file(last.timeline);
  second_ = last.second;
}

/// Cancels opening a file. The window keeps showing what it showed before.
void MainWindow::cancel_open() {
  if (!progress_->is_active()) return;
  opener_.stop();
  comparison_->cancel_open();
  second_.clear();
  reopened_ = {};
  run_opened_ = reloading_ = false;
  compared_range_.reset();
  progress_->end();
  const QString text = tr("opening was cancelled");
  tell(text);
  emit failed(text);
}

void MainWindow::show_trace(const std::shared_ptr<const Trace>& trace, const QString& path) {
  progress_->end();
  stack_->setCurrentIndex(1);
  const bool was_hidden = stack_->isHidden();
  stack_->show();
  show_panels();
  if (was_hidden) divide_width();
  overview_->show_trace(trace);
  headline_->show_trace(trace, against_last_run(*trace, path));
  const bool is_same = std::exchange(reloading_, false) && path == shown_;
  if (is_same) {
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
  show_title();
  QString status_message = tr("%1 spans in %2 rows").arg(trace->spans()).arg(trace->rows().size());
  if (!trace->complete())
    status_message += tr("; the file %1").arg(QString::fromStdString(trace->damage()));
  // Show the notes that report that a part of the run was not recorded.
  for (const std::string& note : trace->run().notes) {
    if (core::is_recording_note(note))
      status_message += QStringLiteral("; ") + shortened_note(note);
  }
  tell(status_message);
  if (!is_same) hide_topology(!has_traffic(*trace));
  marks_->open_marks_of(path);
  if (!from_session) remember_file(path);
  comparison_->set_first(trace, path);
  if (!second_.isEmpty()) return open_second(std::exchange(second_, QString()));
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
