// The commands and menus of the main window. All commands are entries of `actions_`, from which the
// menus, the command palette and the help are built.

#include <QFileDialog>
#include <QMenu>
#include <QMenuBar>
#include <QSettings>
#include <QStackedWidget>
#include <algorithm>
#include <map>

#include "gui/sweep/sweep_panel.h"
#include "gui/topology/topology_panel.h"
#include "gui/widgets/command_palette.h"
#include "gui/widgets/help_dialog.h"
#include "gui/widgets/legend_strip.h"
#include "gui/widgets/marks_panel.h"
#include "gui/widgets/message_arrows.h"
#include "gui/widgets/numbers_panel.h"
#include "gui/widgets/query_panel.h"
#include "gui/widgets/recent_files.h"
#include "gui/widgets/search_bar.h"
#include "gui/widgets/timeline_actions.h"
#include "gui/window/comparison_panel.h"
#include "gui/window/main_window.h"

namespace tutti::gui {

void MainWindow::make_actions() {
  const QString file = tr("&File"), help = tr("&Help");
  actions_.add(file, "open", tr("&Open…"), QStringLiteral("Ctrl+O"), [this] { choose_file(); });
  actions_.add(file, "new", tr("&New scenario"), QStringLiteral("Ctrl+N"), [this] { start_new(); });
  comparison_->add_actions(actions_);
  actions_.begin_section(tr("Co&mpare"));
  actions_.add(tr("Co&mpare"), "compare-last-run", tr("Compare &with the previous run"),
               QStringLiteral("R"), [this] { compare_with_last_run(); });
  actions_.add(file, "recover", tr("&Recover unsaved changes…"), QStringLiteral("Ctrl+Alt+R"),
               [this] { offer_recovery(true); });
  actions_.add(file, "reload", tr("Re&load from disk"), QStringLiteral("Ctrl+R"),
               [this] { reload_changed(); });
  actions_.add(file, "restore-session", tr("Restore the last &session"),
               QStringLiteral("Ctrl+Shift+T"), [this] { restore_session(); });
  actions_.begin_section(file);
  actions_.add(file, "export-picture", tr("Export &picture (PNG, SVG)…"), QStringLiteral("Ctrl+E"),
               [this] {
                 export_picture(QFileDialog::getSaveFileName(this, tr("Export picture"),
                                                             proposed_name(QStringLiteral(".png")),
                                                             tr("Pictures (*.png *.svg)")));
               });
  actions_.add(file, "export-numbers", tr("Export n&umbers (CSV)…"), QStringLiteral("Ctrl+Shift+E"),
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
        tr("Ex&amples"), id.constData(),
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
        if (!stack_->isVisible() && !sweep_->isVisible()) return;
        const bool had_focus = session_->isAncestorOf(focusWidget());
        session_->setVisible(!session_->isVisible());
        if (had_focus) focus_main_part();
        show_title();
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

void MainWindow::make_menus() {
  // The menus, in the order in which users expect them. A submenu follows its menu.
  const QStringList order{tr("&File"),     tr("Sc&enario"), tr("&View"), tr("&Select"),
                          tr("R&ows"),     tr("Co&mpare"),  tr("&Play"), tr("S&weep"),
                          tr("Ex&amples"), tr("&Help")};
  actions_.sort_groups(order);
  std::map<QString, QMenu*> menus;
  for (const Actions::Group& group : actions_.groups()) {
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
    auto* const recent = new QMenu(tr("Op&en recent"), menu);
    menu->insertMenu(actions_.find(QStringLiteral("recover")), recent);
    connect(recent, &QMenu::aboutToShow, this, [this, recent] {
      recent->clear();
      for (const QString& path : recent_files())
        recent->addAction(path, this, [this, path] { open(path); });
      if (recent->isEmpty()) recent->addAction(tr("nothing yet"))->setEnabled(false);
    });
  }
}

}  // namespace tutti::gui
