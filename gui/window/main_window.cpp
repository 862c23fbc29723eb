// The window only creates its panels and other parts, and connects their signals. The parts do the
// work. Files are opened in the background. FileOpener reports a timeline, a scenario, a sweep or a
// failure. `second_` and `run_opened_` store what to do when the file is open: compare it with a
// second timeline, or run it. All commands are entries of `actions_`, from which the menus and the
// command palette are built. Panels need a timeline. Until the first timeline is open, panels are
// hidden, and `panels_` keeps their saved layout, so that it is not lost when the window is closed.
// A comparison hides the topology, which is shown again before the layout is saved. The file
// main_window_sweep.cpp has the functions for sweeps.

#include "gui/window/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QMimeData>
#include <QProgressBar>
#include <QSaveFile>
#include <QSettings>
#include <QSplitter>
#include <QStackedWidget>
#include <QStatusBar>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>
#include <map>
#include <utility>

#include "core/scenario/library_folder.h"
#include "core/scenario/run_info.h"
#include "gui/editor/form_view.h"
#include "gui/editor/scenario_editor.h"
#include "gui/paint/palette.h"
#include "gui/paint/text_of.h"
#include "gui/sweep/sweep_panel.h"
#include "gui/topology/topology_panel.h"
#include "gui/topology/topology_view.h"
#include "gui/topology/traffic_reader.h"
#include "gui/trace/describe.h"
#include "gui/widgets/command_palette.h"
#include "gui/widgets/communication_panel.h"
#include "gui/widgets/details_panel.h"
#include "gui/widgets/found_panel.h"
#include "gui/widgets/headline_strip.h"
#include "gui/widgets/help_dialog.h"
#include "gui/widgets/legend_strip.h"
#include "gui/widgets/marks_panel.h"
#include "gui/widgets/message_arrows.h"
#include "gui/widgets/notice_bar.h"
#include "gui/widgets/numbers_panel.h"
#include "gui/widgets/overview_strip.h"
#include "gui/widgets/picture_file.h"
#include "gui/widgets/query_panel.h"
#include "gui/widgets/recent_files.h"
#include "gui/widgets/search_bar.h"
#include "gui/widgets/time_cursor.h"
#include "gui/widgets/timeline_actions.h"
#include "gui/widgets/welcome_page.h"
#include "gui/window/comparison_panel.h"

namespace tutti::gui {

/// Minimum width in pixels for a scenario, the topology and a timeline next to each other.
static constexpr int kRoomForThree = 1800;

static QString text_of_side(const Trace& trace, std::size_t side) {
  return QString::fromStdString(trace.sides()[side].name);
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
      progress_(new QProgressBar),
      examples_(examples_in(executors.library.folder())) {
  setWindowTitle(tr("Tutti"));
  setAcceptDrops(true);
  resize(1280, 800);
  auto* const welcome = new WelcomePage(examples_);
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
  progress_->setMaximumWidth(200);
  progress_->hide();
  statusBar()->addPermanentWidget(progress_);
  statusBar()->addPermanentWidget(where_);

  connect(view_, &TimelineView::view_changed, this,
          [this] { overview_->set_range(view_->view().range()); });
  connect(view_, &TimelineView::cursor_moved, this, &MainWindow::report_cursor);
  connect(view_, &TimelineView::range_changed, this, &MainWindow::report_range);
  connect(view_, &TimelineView::lines_changed, this, [this] {
    // Other rows may count. Another message in the status bar stays.
    if (view_->range() && !range_words_.isEmpty() && status_text_ == range_words_) report_range();
  });
  connect(overview_, &OverviewStrip::range_wanted, view_, &TimelineView::glide_to);
  connect(overview_, &OverviewStrip::settled, view_, &TimelineView::settle);
  connect(&opener_, &FileOpener::progress, progress_, &QProgressBar::setValue);
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
}

// --- parts ---

/// Creates the page with the timeline, and with the strips above and below the timeline.
void MainWindow::make_page() {
  auto* const page = new QWidget;
  auto* const layout = new QVBoxLayout(page);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(notice_);
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

QDockWidget* MainWindow::add_panel(const QString& title, const char* id, QWidget* panel,
                                   Qt::DockWidgetArea area) {
  auto* const dock = new QDockWidget(title, this);
  dock->setObjectName(QString::fromLatin1(id));
  dock->setWidget(panel);
  addDockWidget(area, dock);
  return dock;
}

void MainWindow::make_editor_session() {
  middle_->addWidget(session_);
  middle_->addWidget(stack_);
  middle_->setStretchFactor(0, 2);
  middle_->setStretchFactor(1, 3);
  middle_->setChildrenCollapsible(false);
  setCentralWidget(middle_);
  session_->hide();
  connect(session_, &EditorSession::status_message, this, &MainWindow::tell);
  connect(session_, &EditorSession::timeline_made, this, &MainWindow::open);
  connect(session_, &EditorSession::run_failed, this, &MainWindow::failed);
  connect(session_, &EditorSession::title_changed, this,
          [this](const QString& title, bool changed) {
            setWindowTitle(tr("%1[*] — Tutti").arg(title));
            setWindowModified(changed);
          });
}

void MainWindow::make_panels() {
  arrows_ = new MessageArrows(*view_);
  arrows_->setParent(view_);
  connect(arrows_, &MessageArrows::status_message, this, &MainWindow::tell);
  numbers_ = new NumbersPanel(*view_);
  found_ = new FoundPanel;
  search_ = new SearchBar(*view_, *found_);
  addToolBar(search_);
  connect(search_, &SearchBar::status_message, this, &MainWindow::tell);
  auto* const details =
      add_panel(tr("Details"), "details", new DetailsPanel(*view_), Qt::BottomDockWidgetArea);
  auto* const numbers = add_panel(tr("Numbers"), "numbers", numbers_, Qt::BottomDockWidgetArea);
  connect(numbers, &QDockWidget::visibilityChanged, numbers_, &NumbersPanel::set_seen);
  splitDockWidget(details, numbers, Qt::Horizontal);
  resizeDocks({details, numbers}, {290, 560}, Qt::Horizontal);  // for two and nine columns
  resizeDocks({details}, {200}, Qt::Vertical);
  cursor_ = new TimeCursor(*view_, *overview_);
  traffic_ = new TrafficReader(*view_, core::Library(core::library_folder()));
  topology_ = new TopologyPanel(*view_, *cursor_, *traffic_);
  cursor_->setParent(view_);
  traffic_->setParent(this);
  auto* const topology = add_panel(tr("Topology"), "topology", topology_, Qt::LeftDockWidgetArea);
  // The height of a drawn cluster is about its width.
  setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
  resizeDocks({topology}, {430}, Qt::Horizontal);
  marks_ = new MarksPanel(*view_);
  auto* const marks = add_panel(tr("Marks"), "marks", marks_, Qt::BottomDockWidgetArea);
  marks->hide();
  auto* const found = add_panel(tr("Found"), "found", found_, Qt::BottomDockWidgetArea);
  found->hide();
  connect(search_, &SearchBar::searched, found, &QDockWidget::show);
  connect(marks_, &MarksPanel::status_message, this, &MainWindow::tell);
  connect(marks_, &MarksPanel::name_wanted, marks, &QDockWidget::show);
  make_comparison();
  make_communication();
  make_query();
}

void MainWindow::make_communication() {
  communication_ = new CommunicationPanel(*view_);
  auto* const dock =
      add_panel(tr("Communication"), "communication", communication_, Qt::BottomDockWidgetArea);
  tabifyDockWidget(findChild<QDockWidget*>(QStringLiteral("numbers")), dock);
  dock->hide();
  connect(dock, &QDockWidget::visibilityChanged, communication_, &CommunicationPanel::set_seen);
  connect(communication_, &CommunicationPanel::filter_wanted, search_, &SearchBar::filter);
  connect(search_, &SearchBar::filter_changed, communication_, &CommunicationPanel::follow_filter);
}

void MainWindow::make_query() {
  query_ = new QueryPanel(*view_);
  auto* const dock = add_panel(tr("Query"), "query", query_, Qt::BottomDockWidgetArea);
  tabifyDockWidget(findChild<QDockWidget*>(QStringLiteral("numbers")), dock);
  dock->hide();
  connect(query_, &QueryPanel::query_wanted, dock, [this, dock] {
    if (!view_->trace()) return tell(tr("open a timeline first; then it can be queried"));
    dock->show();
    dock->raise();
  });
}

void MainWindow::make_comparison() {
  comparison_ = new ComparisonPanel(*view_);
  auto* const dock =
      add_panel(tr("Largest differences"), "errors", comparison_, Qt::BottomDockWidgetArea);
  tabifyDockWidget(findChild<QDockWidget*>(QStringLiteral("numbers")), dock);
  dock->hide();
  connect(comparison_, &ComparisonPanel::status_message, this, &MainWindow::tell);
  connect(comparison_, &ComparisonPanel::second_wanted, this, &MainWindow::choose_second);
  connect(comparison_, &ComparisonPanel::progress, progress_, &QProgressBar::setValue);
  connect(comparison_, &ComparisonPanel::failed, this, &MainWindow::give_up);
  connect(comparison_, &ComparisonPanel::shown, this,
          [this, dock](const std::shared_ptr<const Trace>& trace, bool again,
                       const std::optional<TimeRange>& range) {
            progress_->hide();
            overview_->show_trace(trace);
            headline_->show_trace(trace);
            if (again) return view_->replace_trace(trace, range);
            // In a comparison, hide the marks, which belong to a single timeline, and the topology,
            // whose space the comparison needs. The key T shows the topology of one of the
            // timelines.
            marks_->open_marks_of({});
            hide_topology(true);
            view_->show_trace(trace);
            if (const auto kept = std::exchange(compared_range_, std::nullopt))
              view_->show_range(*kept);
            second_watch_.watch(comparison_->second_path(),
                                comparison_->comparison()->sources[1]->stamp());
            view_->setFocus();
            const bool errors = comparison_->comparison()->apart == "error";
            dock->setWindowTitle(errors ? tr("Largest errors") : tr("Largest differences"));
            dock->show();
            dock->raise();
            setWindowTitle(
                tr("%1 and %2 — Tutti").arg(text_of_side(*trace, 0), text_of_side(*trace, 1)));
          });
  connect(comparison_, &ComparisonPanel::listed, this, &MainWindow::opened);
  connect(comparison_, &ComparisonPanel::closed, this,
          [this, dock](const std::shared_ptr<const Trace>& trace, const QString& path) {
            dock->hide();
            show_trace(trace, path);
          });
}

/// Hides the topology when a second timeline is opened. If the topology was visible, shows it again
/// when the second timeline is closed.
void MainWindow::hide_topology(bool away) {
  QWidget* const dock = topology_->parentWidget();
  if (away && dock->isVisible()) {
    dock->hide();
    topology_away_ = true;
  } else if (!away && topology_away_) {
    dock->show();
    topology_away_ = false;
  }
}

void MainWindow::make_actions() {
  const QString file = tr("&File"), help = tr("&Help");
  actions_.add(file, "open", tr("&Open…"), QStringLiteral("Ctrl+O"), [this] { choose_file(); });
  actions_.add(file, "new", tr("&New scenario"), QStringLiteral("Ctrl+N"), [this] { start_new(); });
  comparison_->add_actions(actions_);
  actions_.add(file, "recover", tr("&Recover unsaved changes…"), QStringLiteral("Ctrl+Alt+R"),
               [this] { offer_recovery(true); });
  actions_.add(file, "reload", tr("Re&load the timeline"), QStringLiteral("Ctrl+R"),
               [this] { reload(); });
  actions_.begin_section(file);
  actions_.add(file, "export-picture", tr("Export &picture (PNG, SVG)…"), QStringLiteral("Ctrl+E"),
               [this] {
                 export_picture(QFileDialog::getSaveFileName(this, tr("Export picture"),
                                                             proposed_name(QStringLiteral(".png")),
                                                             tr("Pictures (*.png *.svg)")));
               });
  actions_.add(file, "export-numbers", tr("Export &numbers (CSV)…"), QStringLiteral("Ctrl+Shift+E"),
               [this] {
                 export_numbers(QFileDialog::getSaveFileName(this, tr("Export numbers"),
                                                             proposed_name(QStringLiteral(".csv")),
                                                             tr("Tables (*.csv)")));
               });
  actions_.begin_section(file);
  actions_.add(file, "quit", tr("&Quit"), QStringLiteral("Ctrl+Q"), [this] { close(); });
  session_->add_actions(actions_);
  add_timeline_actions(actions_, *view_);
  make_view_actions();
  add_panel_actions();
  search_->add_actions(actions_);
  arrows_->add_actions(actions_);
  topology_->add_actions(actions_);
  marks_->add_actions(actions_);
  numbers_->add_actions(actions_);
  query_->add_actions(actions_);
  add_sweep_actions();
  for (const Example& example : examples_) {
    if (example.number > 9) break;
    const QByteArray id = "example-" + QByteArray::number(example.number);
    actions_.add(
        tr("E&xamples"), id.constData(),
        tr("Run example &%1: %2").arg(example.number).arg(QString::fromStdString(example.title)),
        QStringLiteral("Ctrl+%1").arg(example.number),
        [this, path = QString::fromStdString(example.path)] { open_and_run(path); });
  }
  actions_.add(help, "palette", tr("&Commands…"), QStringLiteral("Ctrl+P"), [this] {
    auto* const palette = new CommandPalette(actions_, this);
    palette->setAttribute(Qt::WA_DeleteOnClose);
    palette->open();
  });
  actions_.add(help, "help", tr("&Keys and legend"), QStringLiteral("?; F1"),
               [this] { show_help(actions_, this); });
  actions_.begin_section(help);
  actions_.add(help, "about", tr("&About Tutti"), QStringLiteral("Shift+F1"),
               [this] { show_about(this); });
}

void MainWindow::make_view_actions() {
  const QString view = tr("&View");
  actions_.begin_section(view);
  actions_.add_switch(
      view, "scenario", tr("&Scenario next to the timeline"), QStringLiteral("F4"),
      [this] {
        if (stack_->isVisible() || sweep_->isVisible())
          session_->setVisible(!session_->isVisible());
      },
      [this] { return session_->isVisible(); });
  actions_.add_switch(
      view, "legend", tr("Le&gend below the timeline"), QStringLiteral("Ctrl+Alt+7"),
      [this] {
        legend_->setVisible(legend_->isHidden());
        QSettings().setValue(QStringLiteral("legend"), !legend_->isHidden());
      },
      [this] { return !legend_->isHidden(); });
  legend_->setVisible(QSettings().value(QStringLiteral("legend"), true).toBool());
  actions_.add_switch(
      view, "dark", tr("Dar&k theme"), QStringLiteral("Ctrl+Shift+D"),
      [this] {
        set_dark(!dark_);
        QSettings().setValue(QStringLiteral("dark"), dark_);
      },
      [this] { return dark_; });
}

/// Shows the context menu of the selected span. All entries are also in other menus and have
/// shortcuts.
void MainWindow::show_menu(const QPoint& global) {
  auto* const menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->setObjectName(QStringLiteral("span menu"));
  const auto add = [&](std::initializer_list<const char*> ids) {
    for (const char* const id : ids) menu->addAction(actions_.find(QString::fromLatin1(id)));
    menu->addSeparator();
  };
  if (const auto& span = view_->selected()) {
    const Trace::Row& row = view_->trace()->rows()[span->row];
    const QString kind = QString::fromStdString(core::span_name(row.spans.kind(span->index)));
    const QString device = QString::fromStdString(row.group + '/' + row.track.device);
    add({"fit-selection", "next", "previous"});
    menu->addAction(tr("Find all “%1”").arg(kind), this, [this, kind] { find(kind); });
    if (const std::int32_t pack = row.spans.pack(span->index); pack >= 0)
      menu->addAction(tr("Find pack %1").arg(pack), this,
                      [this, pack] { find(QStringLiteral("pack %1").arg(pack)); });
    menu->addAction(tr("Show only rows of %1").arg(device), this,
                    [this, device] { search_->filter(device + QLatin1Char('/')); });
    menu->addSeparator();
    add({"message-back", "message-on"});
    if (view_->trace()->parts()) add({"partner"});
  }
  add({"mark", "pin", "open-or-close", "fit-all"});
  menu->popup(global);
}

void MainWindow::add_panel_actions() {
  struct Panel {
    const char* dock;
    const char* id;
    const char* keys;
  };
  constexpr Panel kPanels[] = {{"topology", "topology", "T"},
                               {"details", "panel-details", "Ctrl+Alt+1"},
                               {"numbers", "panel-numbers", "Ctrl+Alt+2"},
                               {"marks", "panel-marks", "Ctrl+Alt+3"},
                               {"found", "panel-found", "Ctrl+Alt+4"},
                               {"errors", "panel-differences", "Ctrl+Alt+5"},
                               {"communication", "panel-communication", "Ctrl+Alt+8"},
                               {"query", "panel-query", "Ctrl+Alt+9"}};
  const QString group = tr("&View") + Actions::submenu_separator() + tr("&Panels");
  for (const Panel& panel : kPanels) {
    auto* const dock = findChild<QDockWidget*>(QString::fromLatin1(panel.dock));
    QAction* const action = dock->toggleViewAction();
    actions_.include(group, panel.id, action, QString::fromLatin1(panel.keys));
    connect(action, &QAction::triggered, dock, [dock](bool shown) {
      if (shown) dock->raise();  // it may be hidden behind another dock
    });
    panel_actions_.push_back(action);
  }
  connect(actions_.find(QStringLiteral("topology")), &QAction::triggered, topology_,
          [this](bool shown) {
            if (shown) topology_->topology_view().setFocus();
          });
  actions_.include(group, "panel-search", search_->toggleViewAction(),
                   QStringLiteral("Ctrl+Alt+6"));
  panel_actions_.push_back(search_->toggleViewAction());
}

/// Enables the actions of panels, which need a timeline.
void MainWindow::enable_panel_actions(bool enabled) {
  for (QAction* const action : panel_actions_) action->setEnabled(enabled);
}

void MainWindow::make_menus() {
  // The menus, in the order in which users expect them. A submenu follows its menu.
  const QStringList order{tr("&File"),     tr("S&cenario"), tr("&View"), tr("&Select"),
                          tr("&Rows"),     tr("&Compare"),  tr("&Play"), tr("S&weep"),
                          tr("E&xamples"), tr("&Help")};
  const auto place = [&](const Actions::Group& group) {
    return order.indexOf(group.name.section(Actions::submenu_separator(), 0, 0));
  };
  std::vector<Actions::Group> groups = actions_.groups();
  std::stable_sort(
      groups.begin(), groups.end(),
      [&](const Actions::Group& a, const Actions::Group& b) { return place(a) < place(b); });
  std::map<QString, QMenu*> menus;
  for (const Actions::Group& group : groups) {
    const QStringList names = group.name.split(Actions::submenu_separator());
    QMenu* const menu =
        names.size() > 1 ? menus.at(names[0])->addMenu(names[1]) : menuBar()->addMenu(group.name);
    menus.emplace(group.name, menu);
    for (QAction* const action : group.actions) {
      const auto& sections = group.first_of_sections;
      if (std::find(sections.begin(), sections.end(), action) != sections.end())
        menu->addSeparator();
      menu->addAction(action);
    }
    connect(menu, &QMenu::aboutToShow, this, [this] { actions_.refresh(); });
    if (group.actions.front() != actions_.find(QStringLiteral("open"))) continue;
    auto* const recent = new QMenu(tr("Open &recent"), menu);
    menu->insertMenu(actions_.find(QStringLiteral("recover")), recent);
    connect(recent, &QMenu::aboutToShow, this, [this, recent] {
      recent->clear();
      for (const QString& path : recent_files())
        recent->addAction(path, this, [this, path] { open(path); });
      if (recent->isEmpty()) recent->addAction(tr("nothing yet"))->setEnabled(false);
    });
  }
}

// --- opening ---

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

/// Shows the panels and the search bar, which need a timeline, when the first timeline is opened.
void MainWindow::show_panels() {
  if (panels_.isEmpty()) return;
  // Until some panels are hidden, all of them together may make the window wider.
  const QSize before = size();
  restoreState(panels_);
  panels_.clear();
  enable_panel_actions(true);
  QWidget* const topology = topology_->parentWidget();
  // Next to a scenario the timeline needs the available space; T shows the topology.
  if (session_->isVisible() && width() < kRoomForThree) topology->hide();
  // In a small window, the timeline needs more of the space than at first. A user's own layout is
  // kept.
  if (QSettings().value(QStringLiteral("docks")).isNull()) {
    constexpr int kWidest = 430, kHighest = 200;
    if (topology->isVisible())
      resizeDocks({findChild<QDockWidget*>(QStringLiteral("topology"))},
                  {std::min(kWidest, width() / 4)}, Qt::Horizontal);
    resizeDocks({findChild<QDockWidget*>(QStringLiteral("numbers"))},
                {std::min(kHighest, height() / 4)}, Qt::Vertical);
  }
  layout()->activate();  // computes the minimum size again, without the panels that are hidden now
  if (size() != before && !isMaximized() && !isFullScreen()) resize(before);
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

bool MainWindow::find(const QString& words) { return search_->find(words); }

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

void MainWindow::closeEvent(QCloseEvent* event) {
  if (!session_->may_close()) return event->ignore();
  opener_.stop();
  comparison_->stop();
  sweep_->stop_and_wait();
  // Saves the layout of panels only for a single timeline.
  hide_topology(false);
  if (comparison_->comparison()) comparison_->parentWidget()->hide();
  QSettings settings;
  settings.setValue(QStringLiteral("geometry"), saveGeometry());
  settings.setValue(QStringLiteral("docks"), panels_.isEmpty() ? saveState() : panels_);
  event->accept();
}

// --- messages ---

void MainWindow::tell(const QString& text) {
  // Width of the progress bar and of the time under the mouse.
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

QString MainWindow::proposed_name(const QString& ending) const {
  const QString path =
      exports_sweep() && sweep_->data() ? QString::fromStdString(sweep_->data()->path) : shown_;
  if (path.isEmpty()) return {};
  const QFileInfo file(path);
  const bool temporary = session_->made(path) || sweep_->made(path);
  return (temporary ? QString() : file.path() + QLatin1Char('/')) + file.completeBaseName() +
         ending;
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
