#pragma once

#include <QMainWindow>
#include <QTimer>
#include <map>
#include <memory>
#include <optional>

#include "gui/documents/examples.h"
#include "gui/editor/editor_session.h"
#include "gui/trace/headline.h"
#include "gui/widgets/actions.h"
#include "gui/widgets/file_watch.h"
#include "gui/widgets/last_session.h"
#include "gui/widgets/timeline_view.h"
#include "gui/window/file_opener.h"

class QLabel;
class QSplitter;
class QStackedWidget;

namespace tutti::gui {

class CommunicationPanel;
class ComparisonPanel;
class FoundPanel;
class HeadlineStrip;
class LegendStrip;
class MarksPanel;
class MessageArrows;
class NoticeBar;
class NumbersPanel;
class OpenProgress;
class OverviewStrip;
class PathPanel;
class QueryPanel;
class SearchBar;
class SweepPanel;
class TimeCursor;
class TopologyPanel;
class TrafficReader;
class WelcomePage;

/// The main window: a timeline surrounded by panels. The window only connects the panels. Each
/// panel observes the timeline itself, and adds its own actions to the list of actions.
class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  /// `executors`: the executors that run and sweep scenarios.
  explicit MainWindow(Executors executors = {});
  ~MainWindow() override;

  /// Makes the window fit on a screen of this size, with the frame that a window manager adds. A
  /// window that is too large is maximized.
  void fit_to_screen(const QSize& screen);
  /// Starts to open a timeline, a scenario or a sweep. The signal opened() or failed() follows.
  void open(const QString& path);
  /// Opens a scenario and runs it. The signal opened() follows when the run's timeline is
  /// available; on failure, the signal failed() follows.
  void open_and_run(const QString& path);
  /// Opens two timelines and compares them, or opens a sweep and overlays a timeline as a measured
  /// point. The signal opened() or failed() follows.
  void open_both(const QString& first, const QString& second);
  /// Offers to recover unsaved changes of scenarios from an earlier window. If there are none and
  /// `say` is true, shows a message that there are none.
  void offer_recovery(bool say = false);
  /// Offers to open the files of the last session again if its window was not closed, for example
  /// because of a crash. Offers them only once.
  void offer_session();
  /// Selects the first span that matches, as if the user had typed the words into the search bar.
  /// Returns false if no span matches.
  bool find(const QString& words);
  /// Shows a text in the status bar.
  void tell(const QString& text);
  [[nodiscard]] const Actions& actions_of() const { return actions_; }
  [[nodiscard]] TimelineView& timeline() { return *view_; }
  [[nodiscard]] EditorSession& session() { return *session_; }
  [[nodiscard]] ComparisonPanel& comparison() { return *comparison_; }
  [[nodiscard]] MessageArrows& messages() { return *arrows_; }
  [[nodiscard]] MarksPanel& marks() { return *marks_; }
  [[nodiscard]] CommunicationPanel& communication() { return *communication_; }
  [[nodiscard]] QueryPanel& query() { return *query_; }
  [[nodiscard]] QString status_text() const;
  void set_dark(bool dark);
  [[nodiscard]] TimeCursor& cursor() { return *cursor_; }
  [[nodiscard]] TrafficReader& traffic() { return *traffic_; }
  [[nodiscard]] TopologyPanel& topology() { return *topology_; }
  [[nodiscard]] SweepPanel& sweep() { return *sweep_; }
  [[nodiscard]] HeadlineStrip& headline() { return *headline_; }
  [[nodiscard]] NumbersPanel& numbers() { return *numbers_; }
  [[nodiscard]] LegendStrip& legend() { return *legend_; }
  /// Returns the bar at the top that offers to reload the timeline, and that reports why a file
  /// cannot be opened.
  [[nodiscard]] NoticeBar& notice() { return *notice_; }
  /// Returns the name that an export proposes, such as "mine.png" for "mine.tutti". The directory
  /// is the timeline's directory, or the sweep's directory if the sweep is exported.
  [[nodiscard]] QString proposed_name(const QString& ending) const;
  /// Opens the timeline again from its file, without changing the view. In a comparison, opens both
  /// timelines again.
  void reload();
  /// Opens the files of the last session again, with the same view.
  void restore_session();
  [[nodiscard]] WelcomePage& welcome() { return *welcome_; }
  [[nodiscard]] PathPanel& flame() { return *flame_; }
  [[nodiscard]] OpenProgress& open_progress() { return *progress_; }
  /// Writes a picture of the sweep's plot or of the timeline. Returns an error message; empty if
  /// there is no error.
  [[nodiscard]] QString write_shown(const QString& path);

 signals:
  void opened();
  void failed(const QString& why);

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void closeEvent(QCloseEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void make_editor_session();
  void make_sweep();
  void add_sweep_actions();
  void make_panels();
  void make_page();
  void make_view_actions();
  void show_menu(const QPoint& global);
  void offer_reload(const QString& path);
  void reload_changed();
  void make_actions();
  void make_menus();
  /// Adds a dock with a panel. The user can move and close the panel, and show it through the View
  /// menu (add_panel_actions()).
  QDockWidget* add_panel(const QString& title, const char* id, QWidget* panel,
                         Qt::DockWidgetArea area);
  void add_panel_actions();
  void enable_panel_actions(bool enabled);
  void choose_file();
  void begin_to_open(const QString& path);
  /// Ends the opening of a file that has failed, and shows the reason `why`.
  void give_up(const QString& why);
  void open_scenario(const ScenarioBytes& file);
  void start_new();
  void open_sweep(const QString& path);
  void show_sweep();
  void toggle_sweep();
  void begin_sweep();
  /// Returns true if an export applies to the sweep and not to the timeline: the sweep has the
  /// keyboard focus, or only the sweep is shown.
  [[nodiscard]] bool exports_sweep() const;
  void show_editor_session();
  void show_title();
  /// Moves the keyboard focus to the timeline, or to the part that is shown in its place. Call this
  /// after hiding the part that had the focus; otherwise, Qt chooses a text field.
  void focus_main_part();
  void show_panels();
  void divide_width();
  void show_trace(const std::shared_ptr<const Trace>& trace, const QString& path);
  void make_comparison();
  void make_communication();
  void make_query();
  void hide_topology(bool away);
  void choose_second();
  void open_second(const QString& path);
  void cancel_open();
  /// Returns the open files, and how the timeline is shown.
  [[nodiscard]] LastSession shown_session() const;
  void store_session();
  void compare_with_last_run();
  std::optional<HeadlineFigure> against_last_run(const Trace& trace, const QString& path);
  void open_file(const QString& path);
  void open_next_of_session();
  void report_cursor(qint64 picoseconds);
  void report_range();
  void export_picture(const QString& path);
  void export_numbers(const QString& path);

  Actions actions_{this};
  FileOpener opener_{this};
  EditorSession* session_;
  /// Contains, next to each other, the scenario editor, the timeline (or the welcome page), and the
  /// sweep.
  QSplitter* middle_;
  QStackedWidget* stack_;
  SweepPanel* sweep_;
  TimelineView* view_;
  HeadlineStrip* headline_;
  LegendStrip* legend_;
  NoticeBar* notice_;
  OverviewStrip* overview_;
  SearchBar* search_ = nullptr;
  NumbersPanel* numbers_ = nullptr;
  CommunicationPanel* communication_ = nullptr;
  QueryPanel* query_ = nullptr;
  TimeCursor* cursor_ = nullptr;
  TrafficReader* traffic_ = nullptr;
  TopologyPanel* topology_ = nullptr;
  MessageArrows* arrows_ = nullptr;
  ComparisonPanel* comparison_ = nullptr;
  QString second_;  ///< the file to open for comparison, once the first timeline is open
  MarksPanel* marks_ = nullptr;
  FoundPanel* found_ = nullptr;
  PathPanel* flame_ = nullptr;
  QLabel* where_;
  OpenProgress* progress_;
  WelcomePage* welcome_;
  std::vector<Example> examples_;
  std::vector<QAction*> panel_actions_;  ///< actions that show and hide panels
  /// The layout of the panels, saved while there is no timeline; otherwise empty.
  QByteArray panels_;
  QString range_words_;  ///< the description of the selected range in the status bar; empty: none
  QString scenario_title_;         ///< the name of the scenario in the editor
  bool scenario_changed_ = false;  ///< true: the scenario in the editor is not saved
  QString status_text_;     ///< the full text of the status bar, which may show only its beginning
  FileWatch watch_;         ///< watches the file of the timeline
  FileWatch second_watch_;  ///< watches the file of the second timeline
  QString shown_;           ///< the path of the timeline that is shown
  bool reloading_ = false;  ///< true: the timeline that is shown is being opened again
  /// The visible range of the comparison that is being reloaded; otherwise nullopt.
  std::optional<TimeRange> compared_range_;
  /// The files of the last session that are still to be opened.
  LastSession reopened_;
  LastSession stored_;    ///< the session that this window has stored last
  QTimer session_timer_;  ///< stores the session, at most once a second
  /// The step times of the editor's runs, by the paths of their timelines.
  std::map<QString, core::Time> run_times_;
  bool run_opened_ = false;  ///< true: run the scenario that is being opened
  bool dark_ = false;
  /// True: the topology is hidden until a single timeline is shown again.
  bool topology_away_ = false;
};

}  // namespace tutti::gui
