// The functions of the main window for sweeps.

#include <QFileInfo>
#include <QSplitter>
#include <QStackedWidget>
#include <utility>

#include "gui/editor/scenario_editor.h"
#include "gui/sweep/sweep_panel.h"
#include "gui/widgets/open_progress.h"
#include "gui/widgets/picture_file.h"
#include "gui/widgets/recent_files.h"
#include "gui/window/main_window.h"

namespace tutti::gui {

void MainWindow::make_sweep() {
  middle_->addWidget(sweep_);
  middle_->setStretchFactor(2, 2);
  middle_->setCollapsible(2, false);
  sweep_->hide();
  connect(sweep_, &SweepPanel::status_message, this, &MainWindow::tell);
  connect(sweep_, &SweepPanel::failed, this, &MainWindow::give_up);
  connect(sweep_, &SweepPanel::shown, this, &MainWindow::show_sweep);
  connect(sweep_, &SweepPanel::opened, this, [this] {
    const QString path = QString::fromStdString(sweep_->data()->path);
    show_title();
    tell({});
    remember_file(path);
    if (second_.isEmpty()) return emit opened();
    connect(
        sweep_, &SweepPanel::joined, this,
        [this](const QStringList& wrong) {
          return wrong.isEmpty() ? opened() : give_up(wrong.join(QStringLiteral("; ")));
        },
        Qt::SingleShotConnection);
    sweep_->join({std::exchange(second_, QString())});
  });
  connect(sweep_, &SweepPanel::timeline_made, this, &MainWindow::open);
  connect(sweep_, &SweepPanel::scenario_wanted, this, [this](const std::string& text) {
    if (session_->start_from(text)) show_editor_session();
  });
}

void MainWindow::add_sweep_actions() {
  const QString group = tr("S&weep");
  actions_.add(group, "sweep", tr("S&weep this scenario…"), QStringLiteral("Ctrl+F5"),
               [this] { begin_sweep(); });
  sweep_->add_actions(actions_);
  actions_.add_switch(
      tr("&View"), "sweep-panel", tr("S&weep next to the timeline"), QStringLiteral("F7"),
      [this] { toggle_sweep(); }, [this] { return sweep_->isVisible(); });
}

void MainWindow::open_sweep(const QString& path) {
  progress_->end();
  sweep_->open(path);
}

/// Shows the sweep, which fills the window until there is a timeline or a scenario.
void MainWindow::show_sweep() {
  progress_->end();
  stack_->setVisible(view_->trace() != nullptr);
  sweep_->show();
  if (!sweep_->isAncestorOf(focusWidget())) sweep_->plot().setFocus();
  show_title();
}

void MainWindow::toggle_sweep() {
  if (!sweep_->used())
    return tell(tr("open a sweep (Ctrl+O), or open a scenario and sweep it (Ctrl+F5)"));
  if (!sweep_->isVisible()) return show_sweep();
  const bool had_focus = sweep_->isAncestorOf(focusWidget());
  sweep_->hide();
  // Some widget must always be visible.
  if (view_->trace() || !session_->isVisible()) stack_->show();
  if (had_focus) focus_main_part();
  show_title();
}

void MainWindow::begin_sweep() {
  session_->editor().finish_edit();
  if (session_->isVisible() || (!sweep_->data() && !session_->editor().text().empty()))
    return sweep_->start_form(session_->editor().text(), session_->editor().path());
  if (sweep_->data()) return sweep_->start_form_again();
  tell(tr("open a scenario first (Ctrl+O), or create one (Ctrl+N)"));
}

bool MainWindow::exports_sweep() const {
  return sweep_->isVisible() && (!view_->trace() || sweep_->isAncestorOf(focusWidget()));
}

QString MainWindow::write_shown(const QString& path) {
  return exports_sweep() ? sweep_->write_picture(path) : write_picture(*view_, path);
}

}  // namespace tutti::gui
