// The panels of the main window: their creation, their first layout, and the commands that show
// them. Panels need a timeline. Until the first timeline is open, panels are hidden, and `panels_`
// keeps their saved layout, so that it is not lost when the window is closed. A comparison hides
// the topology, which is shown again before the layout is saved.

#include <QDockWidget>
#include <QLayout>
#include <QSettings>
#include <algorithm>
#include <utility>

#include "core/scenario/library_folder.h"
#include "gui/topology/topology_panel.h"
#include "gui/topology/topology_view.h"
#include "gui/topology/traffic_reader.h"
#include "gui/widgets/communication_panel.h"
#include "gui/widgets/details_panel.h"
#include "gui/widgets/found_panel.h"
#include "gui/widgets/headline_strip.h"
#include "gui/widgets/marks_panel.h"
#include "gui/widgets/message_arrows.h"
#include "gui/widgets/numbers_panel.h"
#include "gui/widgets/open_progress.h"
#include "gui/widgets/overview_strip.h"
#include "gui/widgets/path_panel.h"
#include "gui/widgets/query_panel.h"
#include "gui/widgets/search_bar.h"
#include "gui/widgets/time_cursor.h"
#include "gui/window/comparison_panel.h"
#include "gui/window/main_window.h"

namespace tutti::gui {

/// Minimum width in pixels for the topology next to a timeline.
static constexpr int kRoomForTopology = 900;
/// Minimum width in pixels for a scenario, the topology and a timeline next to each other.
static constexpr int kRoomForThree = 1800;

QDockWidget* MainWindow::add_panel(const QString& title, const char* id, QWidget* panel,
                                   Qt::DockWidgetArea area) {
  auto* const dock = new QDockWidget(title, this);
  dock->setObjectName(QString::fromLatin1(id));
  dock->setWidget(panel);
  addDockWidget(area, dock);
  return dock;
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
  auto* const found = add_panel(tr("Found"), "found", found_, Qt::BottomDockWidgetArea);
  // A third panel in the row would leave too little width for the columns of the numbers.
  for (QDockWidget* const dock : {marks, found}) {
    tabifyDockWidget(numbers, dock);
    dock->hide();
  }
  connect(search_, &SearchBar::searched, found, [found] {
    if (!found->isHidden()) return;  // the user may have chosen another tab since
    found->show();
    found->raise();
  });
  connect(numbers_, &NumbersPanel::by_device_changed, numbers, [this, numbers] {
    if (!view_->trace()) return;
    numbers->show();  // it may be closed, or behind another panel
    numbers->raise();
  });
  connect(marks_, &MarksPanel::status_message, this, &MainWindow::tell);
  connect(marks_, &MarksPanel::name_wanted, marks, [marks] {
    marks->show();
    marks->raise();
  });
  make_comparison();
  make_communication();
  make_query();
  flame_ = new PathPanel(*view_);
  auto* const flame =
      add_panel(tr("Critical path"), "path-panel", flame_, Qt::BottomDockWidgetArea);
  tabifyDockWidget(numbers, flame);
  flame->hide();
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
  connect(comparison_, &ComparisonPanel::progress, progress_, &OpenProgress::set_percent);
  connect(comparison_, &ComparisonPanel::failed, this, &MainWindow::give_up);
  connect(comparison_, &ComparisonPanel::shown, this,
          [this, dock](const std::shared_ptr<const Trace>& trace, bool again,
                       const std::optional<TimeRange>& range) {
            progress_->end();
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
            show_title();
          });
  connect(comparison_, &ComparisonPanel::listed, this, &MainWindow::opened);
  connect(comparison_, &ComparisonPanel::closed, this,
          [this, dock](const std::shared_ptr<const Trace>& trace, const QString& path) {
            dock->hide();
            show_trace(trace, path);
          });
}

/// Hides the topology (`away`) when a second timeline is opened, and when a timeline has neither
/// links nor messages, because the topology could only show its devices. If the topology was
/// visible, shows it again when another timeline is opened.
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
                               {"query", "panel-query", "Ctrl+Alt+9"},
                               {"path-panel", "panel-path", "Ctrl+Alt+0"}};
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
    if (width() < kRoomForTopology) topology->hide();
    constexpr int kWidest = 430, kHighest = 200;
    const int share = session_->isVisible() ? width() / 6 : width() * 2 / 9;
    if (topology->isVisible())
      resizeDocks({findChild<QDockWidget*>(QStringLiteral("topology"))}, {std::min(kWidest, share)},
                  Qt::Horizontal);
    resizeDocks({findChild<QDockWidget*>(QStringLiteral("numbers"))},
                {std::min(kHighest, height() / 5)}, Qt::Vertical);
  }
  layout()->activate();  // computes the minimum size again, without the panels that are hidden now
  if (size() != before && !isMaximized() && !isFullScreen()) resize(before);
}

}  // namespace tutti::gui
