#pragma once

#include <QTemporaryDir>
#include <QWidget>
#include <memory>

#include "gui/editor/scenario_desk.h"
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

/// A sweep: what is drawn of it, followed as its file grows, whoever writes it; runs of its points; and sweeps that are begun here.
/// Timelines of points lie in a folder that goes with this.
class SweepPanel : public QWidget {
  Q_OBJECT

 public:
  explicit SweepPanel(Workshop workshop, QWidget* parent = nullptr);
  ~SweepPanel() override;

  /// Begins to follow a file; opened() or failed() follows. What is open stays until then.
  void open(const QString& path);
  /// Puts real runs over the simulated ones. REQUIRES: a sweep is open.
  void join(const QStringList& timelines);
  /// Lets somebody fill in what is to vary of a scenario.
  void start_form(const std::string& text, const QString& path);
  /// … of the sweep's own.
  void start_form_again();
  /// Simulates a point; timeline_made() follows.
  void open_point(std::int64_t point);
  /// Of what is running, a sweep and a point, all.
  void stop();
  /// The same, and returns once nothing runs any more.
  void stop_and_wait();
  [[nodiscard]] bool running() const { return run_.running() || point_run_.running(); }

  /// Whether there is something to be seen: a sweep, or the form.
  [[nodiscard]] bool used() const;
  [[nodiscard]] const std::shared_ptr<const SweepData>& data() const { return data_; }
  [[nodiscard]] PlotView& plot() { return *plot_; }
  [[nodiscard]] SweepForm& form() { return *form_; }
  [[nodiscard]] SweepChoices& choices() { return *choices_; }
  /// What is drawn, and how.
  void choose(const SweepChoice& choice);
  [[nodiscard]] QString words() const;
  /// Whether the file is the timeline of a point from here.
  [[nodiscard]] bool made(const QString& path) const;

  /// PNG or SVG by the name's ending. Empty, or what is wrong, in words.
  [[nodiscard]] QString write_picture(const QString& path) const;
  [[nodiscard]] QByteArray csv() const;

  void set_theme(const Theme& theme);
  void add_actions(Actions& actions);

 signals:
  void told(const QString& text);
  void opened();
  void failed(const QString& why);
  /// All that was to be put over the simulated runs is, but for what could not be: why, a line each.
  void joined(const QStringList& wrong);
  /// There is a run of a point.
  void timeline_made(const QString& path);
  /// Somebody wants the point's scenario, as a text, in the editor.
  void scenario_wanted(const std::string& text);
  /// The form, or a sweep, is there to be seen.
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

  Workshop workshop_;
  QTemporaryDir folder_;
  SweepReader reader_;
  SweepRun run_;
  ScenarioRun point_run_;
  std::int64_t point_ = -1;  ///< that is simulated
  std::shared_ptr<const SweepData> data_;
  QString opening_;  ///< the file that is to be shown; empty once it is
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
