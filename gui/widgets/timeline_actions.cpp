#include "gui/widgets/timeline_actions.h"

#include <QCoreApplication>

#include "gui/widgets/actions.h"
#include "gui/widgets/timeline_view.h"

namespace tutti::gui {

namespace {

QString tr(const char* text) { return QCoreApplication::translate("Timeline", text); }

}  // namespace

void add_timeline_actions(Actions& actions, TimelineView& view) {
  const QString move = tr("&View"), select = tr("&Select"), rows = tr("&Rows");
  TimelineView* const v = &view;
  actions.add(move, "zoom-in", tr("Zoom &in"), QStringLiteral("W; +"), [v] { v->zoom_in(); });
  actions.add(move, "zoom-out", tr("Zoom &out"), QStringLiteral("S; -"), [v] { v->zoom_out(); });
  actions.add(move, "pan-left", tr("&Earlier"), QStringLiteral("A; Left"), [v] { v->pan_left(); });
  actions.add(move, "pan-right", tr("&Later"), QStringLiteral("D; Right"), [v] { v->pan_right(); });
  actions.add(move, "fit-selection", tr("&Fit the selection"), QStringLiteral("F"),
              [v] { v->fit_selection(); });
  actions.add(move, "fit-all", tr("Fit &all"), QStringLiteral("Home"), [v] { v->fit_all(); });
  QAction* const back = actions.add(move, "back", tr("&Back to the previous view"),
                                    QStringLiteral("Alt+Left"), [v] { v->back(); });
  QAction* const forward = actions.add(move, "forward", tr("Forwar&d again"),
                                       QStringLiteral("Alt+Right"), [v] { v->forward(); });
  QObject::connect(v, &TimelineView::view_changed, back, [v, back, forward] {
    back->setEnabled(v->view().can_go_back());
    forward->setEnabled(v->view().can_go_forward());
  });

  actions.add(select, "next", tr("&Next span of the row"), QStringLiteral("."),
              [v] { v->select_next(); });
  actions.add(select, "previous", tr("&Previous span of the row"), QStringLiteral(","),
              [v] { v->select_previous(); });
  actions.add(select, "clear", tr("Select no&thing"), QStringLiteral("Escape"), [v] {
    v->clear_selection();
    v->setFocus();
  });
  actions.add(select, "path", tr("Highlight the critical pa&th"), QStringLiteral("P"),
              [v] { v->set_path_only(!v->path_only()); });
  actions.add(select, "path-next", tr("Next on the critical path"), QStringLiteral("Shift+."),
              [v] { v->next_on_path(); });
  actions.add(select, "path-previous", tr("Previous on the critical path"),
              QStringLiteral("Shift+,"), [v] { v->previous_on_path(); });

  actions.add(rows, "row-down", tr("&Down a row"), QStringLiteral("Down"),
              [v] { v->walk_lines(1); });
  actions.add(rows, "row-up", tr("&Up a row"), QStringLiteral("Up"), [v] { v->walk_lines(-1); });
  actions.add(rows, "open-or-close", tr("Op&en or close the group"), QStringLiteral("O"),
              [v] { v->open_or_close(); });
  actions.add(rows, "open-all", tr("O&pen all groups"), QStringLiteral("Ctrl++"),
              [v] { v->open_all(); });
  actions.add(rows, "close-all", tr("&Close all groups"), QStringLiteral("Ctrl+-"),
              [v] { v->close_all(); });
  actions.add(rows, "counters", tr("Co&unters: bytes in flight, queue depth"), QStringLiteral("C"),
              [v] { v->show_counters(!v->counters()); });
  actions.add(rows, "pin", tr("P&in the row to the top, or unpin it"), QStringLiteral("Ctrl+T"),
              [v] { v->pin_or_unpin(); });
}

}  // namespace tutti::gui
