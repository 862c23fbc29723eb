#include "gui/widgets/search_bar.h"

#include <QLineEdit>

#include "gui/model/search.h"
#include "gui/widgets/actions.h"
#include "gui/widgets/timeline_view.h"

namespace tutti::gui {

SearchBar::SearchBar(TimelineView& view) : view_(view), search_(new QLineEdit), filter_(new QLineEdit) {
  setWindowTitle(tr("Search"));
  setObjectName(QStringLiteral("search"));
  setMovable(false);
  search_->setObjectName(QStringLiteral("find"));
  search_->setPlaceholderText(tr("Find spans: pack 3, receive, update gpu1 …  (Ctrl+F, Enter finds the next)"));
  search_->setAccessibleName(tr("Find spans"));
  filter_->setObjectName(QStringLiteral("filter"));
  filter_->setPlaceholderText(tr("Only rows with …  (Ctrl+L)"));
  filter_->setAccessibleName(tr("Filter rows"));
  filter_->setClearButtonEnabled(true);
  filter_->setMaximumWidth(260);
  addWidget(search_);
  addWidget(filter_);
  connect(search_, &QLineEdit::returnPressed, this, [this] { find(true); });
  connect(filter_, &QLineEdit::textChanged, &view_, &TimelineView::filter);
}

void SearchBar::add_actions(Actions& actions) {
  const QString select = tr("&Select");
  actions.add(select, "find", tr("&Find spans"), QStringLiteral("Ctrl+F; /"), [this] {
    search_->setFocus();
    search_->selectAll();
  });
  actions.add(select, "find-next", tr("Find the next"), QStringLiteral("F3"), [this] { find(true); });
  actions.add(select, "find-previous", tr("Find the previous"), QStringLiteral("Shift+F3"), [this] { find(false); });
  actions.add(tr("&Rows"), "filter", tr("&Only rows with …"), QStringLiteral("Ctrl+L"),
              [this] { filter_->setFocus(); });
}

void SearchBar::find(const QString& words) {
  search_->setText(words);
  find(true);
}

void SearchBar::find(bool forward) {
  const Trace* const trace = view_.trace();
  if (!trace) return;
  const Query query(search_->text().toStdString());
  if (query.empty()) return emit told(tr("nothing to look for: type what, such as: pack 3"));
  std::optional<SpanId> found;
  if (const auto& selected = view_.selected()) {
    found = forward ? find_next(*trace, query, *selected) : find_previous(*trace, query, *selected);
  } else {
    const TimeRange& seen = view_.view().range();
    found = forward ? find_next(*trace, query, seen.from) : find_previous(*trace, query, seen.to);
  }
  if (!found) return emit told(tr("no span is “%1”").arg(search_->text()));
  view_.go_to(*found);
  emit told(tr("%1 spans are “%2”").arg(count_found(*trace, query)).arg(search_->text()));
}

}  // namespace tutti::gui
