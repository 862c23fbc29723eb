#pragma once

#include <QTemporaryDir>
#include <QWidget>
#include <memory>
#include <vector>

#include "core/scenario/library.h"
#include "gui/documents/backend.h"
#include "gui/documents/sweep_order.h"
#include "gui/editor/scenario_file.h"
#include "gui/editor/scenario_run.h"
#include "gui/widgets/actions.h"
#include "gui/widgets/file_watch.h"

namespace tutti::gui {

class NoticeBar;
class RunBar;
class ScenarioEditor;

/// The executors, the sweep runner and the library of scenarios. The program passes these objects
/// to the editor, since only the program depends on the simulator and on sockets.
struct Executors {
  core::Library library{std::string()};
  std::vector<Backend> backends{};
  std::string new_scenario{};  ///< the text that a new scenario starts from
  SweepRunner sweep{};         ///< function that runs sweeps; null: sweeps can only be viewed
  /// The directory for unsaved changes (gui/editor/recovery.h); empty: unsaved changes are not
  /// kept.
  QString recovery_folder{};
  /// True: the welcome page simulates the examples, and shows pictures of their timelines.
  bool draw_examples = false;
};

/// The editor of a scenario, with the run bar above it. Timelines of runs are written to a
/// temporary folder, which is removed with this object. To keep a timeline, the user saves it
/// elsewhere.
class EditorSession : public QWidget {
  Q_OBJECT

 public:
  explicit EditorSession(Executors executors, QWidget* parent = nullptr);
  ~EditorSession() override;

  /// Opens a scenario; asks first about unsaved changes of the open scenario. Returns false if the
  /// user decides to keep the open scenario. ERRORS: the file cannot be edited; the open scenario
  /// then remains open.
  core::Expected<bool> open(const ScenarioBytes& file);
  /// Starts a new scenario that has no file yet. Asks about unsaved changes first, like open().
  bool start_new();
  /// Starts a new scenario with this text. Asks about unsaved changes first, like open().
  bool start_from(const std::string& text);
  /// Offers to recover unsaved changes of an earlier editor. Returns true if the editor shows
  /// recovered changes. Sets `nothing_left` to true if no unsaved changes were found.
  bool recover(bool* nothing_left = nullptr);
  /// Asks about unsaved changes, and stops the current run. Returns false if the user decides to
  /// keep the window open.
  bool may_close();
  void run();
  void stop();
  /// Returns the path of the last run's timeline; empty if nothing has run.
  [[nodiscard]] const QString& last_timeline() const { return last_; }
  /// Returns the path of the timeline of the run before the last one; empty if there is none.
  [[nodiscard]] const QString& previous_timeline() const { return previous_; }
  /// Saves the timeline of the last run with its marks. On failure, shows the error and returns
  /// false. REQUIRES: there was a run.
  bool save_timeline_to(const QString& path);
  [[nodiscard]] bool running() const { return run_.running(); }
  /// Returns true if the file is the timeline of a run that this editor session executed.
  [[nodiscard]] bool made(const QString& path) const;

  void add_actions(Actions& actions);
  [[nodiscard]] ScenarioEditor& editor() { return *editor_; }
  [[nodiscard]] RunBar& bar() { return *bar_; }
  [[nodiscard]] NoticeBar& notice() { return *notice_; }

 signals:
  void status_message(const QString& text);
  /// Emitted when a run has ended without a timeline.
  void run_failed(const QString& why);
  /// Emitted when the text of an earlier status message no longer applies.
  void message_outdated(const QString& text);
  void title_changed(const QString& title, bool changed);
  /// Emitted when a run has ended with a timeline.
  void timeline_made(const QString& path);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void show_result(const ScenarioRun::Result& result);
  void save_timeline();
  [[nodiscard]] QString next_timeline() const;
  void show_title();
  void offer_reload();

  Executors executors_;
  QTemporaryDir folder_;
  ScenarioEditor* editor_;
  RunBar* bar_;
  NoticeBar* notice_;
  FileWatch watch_;
  QString
      error_words_;   ///< the error of the last run; empty: there is none, or it no longer applies
  QString last_;      ///< path of the last run's timeline
  QString previous_;  ///< path of the timeline of the run before the last one
  ScenarioRun run_;
};

}  // namespace tutti::gui
