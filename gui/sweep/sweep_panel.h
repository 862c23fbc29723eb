#pragma once

#include <QTemporaryDir>
#include <QWidget>
#include <memory>

#include "gui/editor/editor_session.h"
#include "gui/editor/scenario_run.h"
#include "gui/sweep/plot_view.h"
#include "gui/sweep/sweep_reader.h"
#include "gui/sweep/sweep_run.h"

class QLabel;
class QProgressBar;
class QToolButton;

namespace tutti::gui {

class SweepChoices;
class SweepForm;

/// The panel that plots the points in a sweep's file, and updates the plot when any program adds
/// results to the file. The panel also runs single points, and starts new sweeps. Timelines of
/// points are written to a temporary folder, which is removed with this object.
class SweepPanel : public QWidget {
  Q_OBJECT

 public:
  explicit SweepPanel(Executors executors, QWidget* parent = nullptr);
  ~SweepPanel() override;

  /// Starts to read a file, and follows its later changes. The signal opened() or failed() follows;
  /// until then, the panel shows the previous sweep.
  void open(const QString& path);
  /// Overlays real runs on the plot, as measured points. REQUIRES: a sweep is open.
  void join(const QStringList& timelines);
  /// Shows the form for a new sweep of a scenario.
  void start_form(const std::string& text, const QString& path);
  /// Shows the form for a new sweep of the open sweep's scenario.
  void start_form_again();
  /// Simulates a point; timeline_made() follows.
  void open_point(std::int64_t point);
  /// Stops the running sweep and the running point, if any.
  void stop();
  /// Calls stop(), and waits until the sweep and the point have ended.
  void stop_and_wait();
  [[nodiscard]] bool running() const { return run_.running() || point_run_.running(); }

  /// Returns true if the panel shows a sweep or the form.
  [[nodiscard]] bool used() const;
  [[nodiscard]] const std::shared_ptr<const SweepData>& data() const { return data_; }
  [[nodiscard]] PlotView& plot() { return *plot_; }
  [[nodiscard]] SweepForm& form() { return *form_; }
  [[nodiscard]] SweepChoices& choices() { return *choices_; }
  /// Sets the fields and the cost that the plot of the sweep shows.
  void choose(const SweepChoice& choice);
  [[nodiscard]] QString words() const;
  /// Returns true if the file is the timeline of a point that this panel simulated.
  [[nodiscard]] bool made(const QString& path) const;

  /// Writes the plot as PNG or SVG, depending on the file's suffix. Returns an error message; empty
  /// on success.
  [[nodiscard]] QString write_picture(const QString& path) const;
  [[nodiscard]] QByteArray csv() const;

  void set_theme(const Theme& theme);
  void add_actions(Actions& actions);

 signals:
  void status_message(const QString& text);
  void opened();
  void failed(const QString& why);
  /// Emitted when the real runs have been overlaid. `wrong`: for each real run that could not be
  /// overlaid, the reason.
  void joined(const QStringList& wrong);
  /// Emitted when the timeline of a point is available.
  void timeline_made(const QString& path);
  /// Emitted when the user requests to open the scenario of a point in the editor.
  void scenario_wanted(const std::string& text);
  /// Emitted when the panel begins to show the form or a sweep.
  void shown();

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void take(const std::shared_ptr<const SweepData>& data);
  void draw();
  void show_head();
  void begin_sweep();
  void show_running(bool running, const QString& words);
  void show_point_result(const ScenarioRun::Result& result);
  [[nodiscard]] core::Expected<std::vector<core::Override>> changes_of(std::int64_t point) const;
  void want_scenario();
  void choose_measured();

  Executors executors_;
  QTemporaryDir folder_;
  SweepReader reader_;
  SweepRun run_;
  ScenarioRun point_run_;
  std::int64_t point_ = -1;  ///< the index of the point that is being simulated; -1: none
  std::shared_ptr<const SweepData> data_;
  QString opening_;  ///< the file that is being opened; empty: none
  SweepChoice choice_;
  const Theme* theme_;
  QLabel* head_;
  SweepForm* form_;
  SweepChoices* choices_;
  PlotView* plot_;
  QWidget* bar_;
  QProgressBar* progress_;
  QLabel* words_;
  QToolButton* stop_;
};

}  // namespace tutti::gui
