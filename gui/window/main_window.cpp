// The window only creates its panels and other parts, and connects their signals. The parts do the
// work. The functions are divided by topic:
//
// - main_window.cpp: creation, the page of the timeline, messages, the theme, closing
// - main_window_files.cpp: opening, reloading, exporting
// - main_window_panels.cpp: the panels around the timeline
// - main_window_menus.cpp: commands and menus
// - main_window_sweep.cpp: sweeps

#include "gui/window/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDockWidget>
#include <QFileInfo>
#include <QLabel>
#include <QSettings>
#include <QSplitter>
#include <QStackedWidget>
#include <QStatusBar>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/editor/form_view.h"
#include "gui/editor/scenario_editor.h"
#include "gui/paint/palette.h"
#include "gui/paint/text_of.h"
#include "gui/sweep/sweep_panel.h"
#include "gui/topology/topology_panel.h"
#include "gui/topology/traffic_reader.h"
#include "gui/trace/describe.h"
#include "gui/trace/statistics.h"
#include "gui/widgets/communication_panel.h"
#include "gui/widgets/found_panel.h"
#include "gui/widgets/headline_strip.h"
#include "gui/widgets/legend_strip.h"
#include "gui/widgets/notice_bar.h"
#include "gui/widgets/open_progress.h"
#include "gui/widgets/overview_strip.h"
#include "gui/widgets/path_panel.h"
#include "gui/widgets/search_bar.h"
#include "gui/widgets/time_cursor.h"
#include "gui/widgets/welcome_page.h"
#include "gui/window/comparison_panel.h"

namespace tutti::gui {

/// The files and the view are stored this often, in milliseconds, if they have changed.
static constexpr int kStoreSessionMs = 1000;

/// Returns the executor for the pictures of the examples; null if pictures are not wanted.
static ExampleSimulations::MakeExecutor simulator_for_pictures(const Executors& executors) {
  if (!executors.draw_examples || executors.backends.empty()) return {};
  return executors.backends.front().make;
}

MainWindow::MainWindow(Executors executors)
    : session_(new EditorSession(executors)),
      middle_(new QSplitter(this)),
      stack_(new QStackedWidget),
      sweep_(new SweepPanel(executors)),
      view_(new TimelineView),
      headline_(new HeadlineStrip),
      legend_(new LegendStrip),
      notice_(new NoticeBar),
      overview_(new OverviewStrip),
      where_(new QLabel),
      progress_(new OpenProgress(this)),
      examples_(examples_in(executors.library.folder())) {
  setWindowTitle(tr("Tutti"));
  setAcceptDrops(true);
  resize(1280, 800);
  welcome_ = new WelcomePage(examples_, simulator_for_pictures(executors), executors.library);
  WelcomePage* const welcome = welcome_;
  connect(welcome, &WelcomePage::restore_wanted, this, &MainWindow::restore_session);
  connect(welcome, &WelcomePage::open_wanted, this, &MainWindow::choose_file);
  connect(welcome, &WelcomePage::new_wanted, this, &MainWindow::start_new);
  connect(welcome, &WelcomePage::example_wanted, this, &MainWindow::open_and_run);
  connect(welcome, &WelcomePage::file_wanted, this, &MainWindow::open);
  stack_->addWidget(welcome);
  make_page();
  make_editor_session();
  make_sweep();
  make_panels();
  make_actions();
  make_menus();
  connect(progress_, &OpenProgress::cancel_wanted, this, &MainWindow::cancel_open);
  statusBar()->addPermanentWidget(where_);

  connect(view_, &TimelineView::view_changed, this,
          [this] { overview_->set_range(view_->view().range()); });
  connect(view_, &TimelineView::cursor_moved, this, &MainWindow::report_cursor);
  connect(view_, &TimelineView::range_changed, this, &MainWindow::report_range);
  connect(view_, &TimelineView::lines_changed, this, [this] {
    // The rows to which the description of the range refers may have changed, so update it. If the
    // status bar shows another message, keep that message.
    if (view_->range() && !range_words_.isEmpty() && status_text_ == range_words_) report_range();
  });
  connect(overview_, &OverviewStrip::range_wanted, view_, &TimelineView::glide_to);
  connect(overview_, &OverviewStrip::settled, view_, &TimelineView::settle);
  connect(&opener_, &FileOpener::progress, progress_, &OpenProgress::set_percent);
  connect(&opener_, &FileOpener::opened, this, &MainWindow::show_trace);
  connect(&opener_, &FileOpener::scenario_read, this, &MainWindow::open_scenario);
  connect(&opener_, &FileOpener::sweep_found, this, &MainWindow::open_sweep);
  connect(&opener_, &FileOpener::failed, this, &MainWindow::give_up);

  const QSettings settings;
  const QVariant dark = settings.value(QStringLiteral("dark"));
  set_dark(dark.isValid() ? dark.toBool() : palette().color(QPalette::Window).lightness() < 128);
  restoreGeometry(settings.value(QStringLiteral("geometry")).toByteArray());
  restoreState(settings.value(QStringLiteral("docks")).toByteArray());
  panels_ = saveState();
  for (QDockWidget* const dock : findChildren<QDockWidget*>()) dock->hide();
  search_->hide();
  enable_panel_actions(false);
  connect(&session_timer_, &QTimer::timeout, this, &MainWindow::store_session);
  session_timer_.start(kStoreSessionMs);
}

MainWindow::~MainWindow() {
  // Disconnect first, because threads and child widgets must not call the window while its members
  // are being destroyed.
  opener_.stop();
  traffic_->stop();
  session_->disconnect(this);
  sweep_->disconnect(this);
  sweep_->stop_and_wait();
  comparison_->stop();
  // A later window of this process must find the desktop's palette, to follow its theme.
  QApplication::setPalette(QPalette());
}

void MainWindow::fit_to_screen(const QSize& screen) {
  constexpr QSize kFrame(8, 40);  // about the size of a title bar and of two borders
  const QSize needed = size() + kFrame;
  // Without a window manager, only the new size has an effect.
  if (needed.width() > screen.width() || needed.height() > screen.height())
    setWindowState(windowState() | Qt::WindowMaximized);
  resize(size().boundedTo(screen));
}

// --- parts ---

/// Creates the page with the timeline, and with the strips above and below the timeline.
void MainWindow::make_page() {
  auto* const page = new QWidget;
  auto* const layout = new QVBoxLayout(page);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(headline_);
  layout->addWidget(overview_);
  layout->addWidget(view_, 1);
  layout->addWidget(legend_);
  stack_->addWidget(page);
  connect(view_, &TimelineView::trace_changed, legend_,
          [this] { legend_->show_trace(view_->shared_trace()); });
  connect(view_, &TimelineView::menu_wanted, this, &MainWindow::show_menu);
  connect(legend_, &LegendStrip::kind_wanted, this, [this](const QString& name) {
    search_->show();
    find(name);
  });
  connect(&watch_, &FileWatch::changed, this, &MainWindow::offer_reload);
  connect(&second_watch_, &FileWatch::changed, this, &MainWindow::offer_reload);
}

void MainWindow::make_editor_session() {
  middle_->addWidget(session_);
  middle_->addWidget(stack_);
  middle_->setStretchFactor(0, 2);
  middle_->setStretchFactor(1, 3);
  middle_->setChildrenCollapsible(false);
  auto* const centre = new QWidget;
  auto* const layout = new QVBoxLayout(centre);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(notice_);
  layout->addWidget(middle_, 1);
  setCentralWidget(centre);
  session_->hide();
  connect(session_, &EditorSession::status_message, this, &MainWindow::tell);
  connect(session_, &EditorSession::message_outdated, this, [this](const QString& text) {
    if (status_text_ == text) tell({});
  });
  connect(session_, &EditorSession::timeline_made, this, &MainWindow::open);
  connect(session_, &EditorSession::run_failed, this, &MainWindow::failed);
  connect(session_, &EditorSession::title_changed, this,
          [this](const QString& title, bool changed) {
            scenario_title_ = title;
            scenario_changed_ = changed;
            show_title();
          });
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (!session_->may_close()) return event->ignore();
  opener_.stop();
  comparison_->stop();
  sweep_->stop_and_wait();
  session_timer_.stop();
  LastSession last = shown_session();
  // A window that no longer shows files has stored those that it showed before. It is closed too.
  if (last.empty()) last = stored_;
  last.process = 0;
  if (!last.empty()) last.write();
  // Saves the layout of panels only for a single timeline.
  hide_topology(false);
  if (comparison_->comparison()) comparison_->parentWidget()->hide();
  QSettings settings;
  settings.setValue(QStringLiteral("geometry"), saveGeometry());
  settings.setValue(QStringLiteral("docks"), panels_.isEmpty() ? saveState() : panels_);
  event->accept();
}

void MainWindow::focus_main_part() {
  if (view_->trace() && view_->isVisible()) return view_->setFocus();
  if (session_->isVisible()) return session_->editor().form().setFocus();
  if (sweep_->isVisible()) sweep_->plot().setFocus();
}

// --- messages ---

/// Shows in the title of the window what the window shows: a comparison, or else the scenario that
/// is edited, or else the timeline or the sweep.
void MainWindow::show_title() {
  const bool shows_trace = view_->trace() && !stack_->isHidden();
  const bool made_here = session_->made(shown_) || sweep_->made(shown_);
  const bool is_edited = !session_->isHidden();
  QString what;
  if (shows_trace && view_->trace()->sides().size() > 1) {
    const auto& sides = view_->trace()->sides();
    what = tr("%1 and %2")
               .arg(QString::fromStdString(sides[0].name), QString::fromStdString(sides[1].name));
  } else if (is_edited) {
    what = scenario_title_;
  } else if (shows_trace && !made_here) {
    what = QFileInfo(shown_).fileName();
  } else if (sweep_->data() && (!sweep_->isHidden() || sweep_->made(shown_))) {
    what = QFileInfo(QString::fromStdString(sweep_->data()->path)).fileName();
  } else if (shows_trace) {
    what = scenario_title_;  // the timeline of the last run of a scenario that is hidden
  }
  // The name of a file that is written from right to left must not reorder the rest of the title.
  constexpr QChar kIsolate(0x2068), kEnd(0x2069);
  if (what.isRightToLeft()) what = kIsolate + what + kEnd;
  if (is_edited) what += QStringLiteral("[*]");
  setWindowTitle(what.isEmpty() ? tr("Tutti") : tr("%1 — Tutti").arg(what));
  setWindowModified(is_edited && scenario_changed_);
}

bool MainWindow::find(const QString& words) { return search_->find(words); }

void MainWindow::tell(const QString& text) {
  // Width of the time under the mouse.
  constexpr int kOthers = 230;
  status_text_ = text;
  const int room = std::max(100, statusBar()->width() - kOthers);
  statusBar()->showMessage(statusBar()->fontMetrics().elidedText(text, Qt::ElideRight, room));
  statusBar()->setToolTip(text);
}

QString MainWindow::status_text() const { return status_text_; }

void MainWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  if (!status_text_.isEmpty()) tell(status_text_);
}

void MainWindow::set_dark(bool dark) {
  dark_ = dark;
  const Theme& theme = dark ? dark_theme() : light_theme();
  view_->set_theme(theme);
  overview_->set_theme(theme);
  found_->set_theme(theme);
  topology_->set_theme(theme);
  sweep_->set_theme(theme);
  legend_->set_theme(theme);
  communication_->set_theme(theme);
  flame_->set_theme(theme);
  welcome_->set_theme(theme);
  actions_.refresh();
  // Set the palette of the application, because the palette of the window does not affect dialogs
  // and floating panels.
  const QPalette colours = palette_of(theme, dark);
  QApplication::setPalette(colours);
  QToolTip::setPalette(colours);
  // Open windows would keep their old palette, so set their palettes too.
  setPalette(colours);
  for (QDockWidget* const dock : findChildren<QDockWidget*>()) dock->setPalette(colours);
}

void MainWindow::report_cursor(qint64 picoseconds) {
  const bool there = picoseconds >= 0 && view_->trace();
  where_->setText(there ? QString::fromStdString(moment(*view_->trace(), core::Time(picoseconds)))
                        : QString());
}

/// Describes the selected range in the status bar. Removes the description when nothing is selected
/// any more.
void MainWindow::report_range() {
  const bool is_shown = !range_words_.isEmpty() && status_text_ == range_words_;
  range_words_.clear();
  if (!view_->range() || !view_->trace()) {
    if (is_shown) tell({});
    return;
  }
  const TimeRange& range = *view_->range();
  const std::vector<std::size_t> rows = view_->counted_rows();
  double busy = 0;  // in picoseconds; the sum over many rows may not fit into 64 bits
  for (const std::size_t row : rows)
    busy +=
        static_cast<double>(view_->trace()->rows()[row].spans.busy(range.from, range.to).count());
  const double share =
      rows.empty() || range.length() <= core::Time()
          ? 0
          : busy / static_cast<double>(range.length().count()) / static_cast<double>(rows.size());
  const auto spans = spans_in(*view_->trace(), rows, range);
  range_words_ = tr("selected: %1 × %2, %3, %4 % busy")
                     .arg(text_of(range.length()),
                          rows.size() == 1 ? tr("1 row") : tr("%1 rows").arg(rows.size()),
                          spans == 1 ? tr("1 span") : tr("%1 spans").arg(spans))
                     .arg(100 * share, 0, 'f', 1);
  tell(range_words_);
}

}  // namespace tutti::gui
