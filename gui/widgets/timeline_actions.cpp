#include "gui/widgets/timeline_actions.h"

#include <QApplication>
#include <QLineEdit>

#include "gui/widgets/actions.h"
#include "gui/widgets/timeline_view.h"

namespace tutti::gui {

namespace {

QString text_of_action(const char* text) { return QCoreApplication::translate("Timeline", text); }

}  // namespace

void add_timeline_actions(Actions& actions, TimelineView& view) {
  const QString move = text_of_action("&View"), select = text_of_action("&Select"),
                rows = text_of_action("R&ows");
  TimelineView* const v = &view;
  actions.add(move, "zoom-in", text_of_action("Zoom &in"), QStringLiteral("W; +"),
              [v] { v->zoom_in(); });
  actions.add(move, "zoom-out", text_of_action("Zoom &out"), QStringLiteral("S; -"),
              [v] { v->zoom_out(); });
  actions.add(move, "pan-left", text_of_action("&Earlier"), QStringLiteral("A; Left"),
              [v] { v->pan_left(); });
  actions.add(move, "pan-right", text_of_action("&Later"), QStringLiteral("D; Right"),
              [v] { v->pan_right(); });
  actions.begin_section(move);
  actions.add(move, "fit-selection", text_of_action("&Fit the selection"), QStringLiteral("F"),
              [v] { v->fit_selection(); });
  actions.add(move, "fit-all", text_of_action("Fit &all"), QStringLiteral("Home"),
              [v] { v->fit_all(); });
  actions.begin_section(move);
  QAction* const back = actions.add(move, "back", text_of_action("&Back to the previous view"),
                                    QStringLiteral("Alt+Left"), [v] { v->back(); });
  QAction* const forward = actions.add(move, "forward", text_of_action("Forwar&d again"),
                                       QStringLiteral("Alt+Right"), [v] { v->forward(); });
  QObject::connect(v, &TimelineView::view_changed, back, [v, back, forward] {
    back->setEnabled(v->view().can_go_back());
    forward->setEnabled(v->view().can_go_forward());
  });

  actions.add(select, "next", text_of_action("&Next span of the row"), QStringLiteral("."),
              [v] { v->select_next(); });
  actions.add(select, "previous", text_of_action("&Previous span of the row"), QStringLiteral(","),
              [v] { v->select_previous(); });
  actions.add(select, "clear", text_of_action("Select no&thing"), QStringLiteral("Escape"), [v] {
    // In a text field, such as the search, Esc only returns to the timeline.
    if (!qobject_cast<QLineEdit*>(QApplication::focusWidget())) v->clear_selection();
    v->setFocus();
  });
  actions.begin_section(select);
  actions.add(select, "region-down", text_of_action("E&xtend the selected rows downwards"),
              QStringLiteral("Shift+Down"), [v] { v->extend_region(1); });
  actions.add(select, "region-up", text_of_action("Extend the selected rows up&wards"),
              QStringLiteral("Shift+Up"), [v] { v->extend_region(-1); });
  actions.begin_section(select);
  actions.add_switch(
      select, "path", text_of_action("Highlight the &critical path"), QStringLiteral("P"),
      [v] { v->set_path_only(!v->path_only()); }, [v] { return v->path_only(); });
  actions.add(select, "path-next", text_of_action("Next span of the critical path"),
              QStringLiteral("Shift+."), [v] { v->next_on_path(); });
  actions.add(select, "path-previous", text_of_action("Previous span of the critical path"),
              QStringLiteral("Shift+,"), [v] { v->previous_on_path(); });

  actions.add(rows, "row-down", text_of_action("&Down a row"), QStringLiteral("Down"),
              [v] { v->walk_lines(1); });
  actions.add(rows, "row-up", text_of_action("&Up a row"), QStringLiteral("Up"),
              [v] { v->walk_lines(-1); });
  actions.begin_section(rows);
  actions.add(rows, "open-or-close", text_of_action("Op&en or close the group"),
              QStringLiteral("O"), [v] { v->open_or_close(); });
  actions.add(rows, "open-all", text_of_action("O&pen all groups"), QStringLiteral("Ctrl++"),
              [v] { v->open_all(); });
  actions.add(rows, "close-all", text_of_action("&Close all groups"), QStringLiteral("Ctrl+-"),
              [v] { v->close_all(); });
  actions.begin_section(rows);
  actions.add_switch(
      rows, "counters", text_of_action("Coun&ters: bytes in flight, queue depth"),
      QStringLiteral("C"), [v] { v->show_counters(!v->counters()); },
      [v] { return v->counters(); });
  actions.add(rows, "pin", text_of_action("P&in the row to the top, or unpin it"),
              QStringLiteral("Ctrl+T"), [v] { v->pin_or_unpin(); });
}

}  // namespace tutti::gui
