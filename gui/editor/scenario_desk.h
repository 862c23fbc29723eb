#pragma once

#include <QTemporaryDir>
#include <QWidget>
#include <memory>
#include <vector>

#include "core/scenario/library.h"
#include "gui/editor/scenario_file.h"
#include "gui/editor/scenario_run.h"
#include "gui/model/backend.h"
#include "gui/model/sweep_order.h"
#include "gui/widgets/actions.h"

namespace tutti::gui {

class RunBar;
class ScenarioEditor;

/// What scenarios are run by and made of: handed in by the program, which alone knows simulator and sockets.
struct Workshop {
  core::Library library{std::string()};
  std::vector<Backend> backends{};
  std::string new_scenario{};  ///< the text to start a new one from
  SweepRunner sweep{};         ///< none: sweeps can be looked at, not run
  QString recovery_folder{};   ///< where unsaved changes are kept (gui/editor/recovery.h); empty: nowhere
};

/// Where a scenario is written and run: the editor, with what runs it above. Timelines of runs lie in a folder that goes with
/// this; whoever wants to keep one saves it elsewhere.
class ScenarioDesk : public QWidget {
  Q_OBJECT

 public:
  explicit ScenarioDesk(Workshop workshop, QWidget* parent = nullptr);
  ~ScenarioDesk() override;

  /// Opens a scenario, after asking about changes of the one that is open. False: somebody would rather keep that.
  /// ERRORS: it cannot be edited; what is open stays.
  core::Expected<bool> open(const ScenarioBytes& file);
  /// The same for one that has no file yet.
  bool start_new();
  /// … with this text.
  bool start_from(const std::string& text);
  /// Offers unsaved changes that were left behind; true if some are shown now. `nothing_left`: whether there were none.
  bool recover(bool* nothing_left = nullptr);
  /// Whether the window may be closed: asks about changes. Ends a run.
  bool may_close();
  void run();
  void stop();
  /// Keeps the timeline of the last run, and the marks that were made on it. False: it is told what is wrong. REQUIRES: there was one.
  bool save_timeline_to(const QString& path);
  [[nodiscard]] bool running() const { return run_.running(); }
  /// Whether the file is the timeline of a run from here.
  [[nodiscard]] bool made(const QString& path) const;

  void add_actions(Actions& actions);
  [[nodiscard]] ScenarioEditor& editor() { return *editor_; }
  [[nodiscard]] RunBar& bar() { return *bar_; }

 signals:
  void told(const QString& text);
  /// A run has ended without a timeline.
  void run_failed(const QString& why);
  void title_changed(const QString& title, bool changed);
  /// A run has ended with this timeline.
  void timeline_made(const QString& path);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void show_result(const ScenarioRun::Result& result);
  void save_timeline();
  [[nodiscard]] QString next_timeline() const;
  void show_title();

  Workshop workshop_;
  QTemporaryDir folder_;
  ScenarioEditor* editor_;
  RunBar* bar_;
  QString last_;  ///< timeline of the last run
  ScenarioRun run_;
};

}  // namespace tutti::gui
