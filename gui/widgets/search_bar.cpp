#include "gui/widgets/search_bar.h"

#include <QLineEdit>

#include "gui/trace/search.h"
#include "gui/widgets/actions.h"
#include "gui/widgets/found_panel.h"
#include "gui/widgets/timeline_view.h"

namespace tutti::gui {

SearchBar::SearchBar(TimelineView& view, FoundPanel& found)
    : view_(view), found_(found), search_(new QLineEdit), filter_(new QLineEdit) {
  setWindowTitle(tr("Search"));
  setObjectName(QStringLiteral("search"));
  setMovable(false);
  search_->setObjectName(QStringLiteral("find"));
  search_->setPlaceholderText(
      tr("Find spans: pack 3, receive >1ms, update gpu1, a layer's name …  (Ctrl+F, Enter finds "
         "the next)"));
  search_->setAccessibleName(tr("Find spans"));
  filter_->setObjectName(QStringLiteral("filter"));
  filter_->setPlaceholderText(tr("Only rows with …  (Ctrl+L)"));
  filter_->setAccessibleName(tr("Filter rows"));
  filter_->setClearButtonEnabled(true);
  filter_->setMaximumWidth(260);
  // Dropped files are opened by the window.
  for (QLineEdit* const line : {search_, filter_}) line->setAcceptDrops(false);
  addWidget(search_);
  addWidget(filter_);
  connect(search_, &QLineEdit::returnPressed, this, [this] { find(true); });
  connect(filter_, &QLineEdit::textChanged, &view_, &TimelineView::filter);
  // The histogram belongs to the previous timeline.
  connect(&view_, &TimelineView::trace_changed, &found_, [this] { found_.show_durations({}); });
  connect(&found_, &FoundPanel::narrowed, this, &SearchBar::narrow);
}

void SearchBar::add_actions(Actions& actions) {
  const QString select = tr("&Select");
  actions.add(select, "find", tr("&Find spans"), QStringLiteral("Ctrl+F; /"), [this] {
    if (view_.trace()) show();
    search_->setFocus();
    search_->selectAll();
  });
  actions.add(select, "find-next", tr("Find the next"), QStringLiteral("F3"),
              [this] { find(true); });
  actions.add(select, "find-previous", tr("Find the previous"), QStringLiteral("Shift+F3"),
              [this] { find(false); });
  actions.add(tr("&Rows"), "filter", tr("&Only rows with …"), QStringLiteral("Ctrl+L"), [this] {
    if (view_.trace()) show();
    filter_->setFocus();
  });
}

bool SearchBar::find(const QString& words) {
  search_->setText(words);
  return find(true);
}

bool SearchBar::find(bool forward) {
  const Trace* const trace = view_.trace();
  if (!trace) return false;
  const Query query(search_->text().toStdString(), *trace);
  if (query.empty()) {
    emit told(tr("enter a search term, such as: pack 3"));
    return false;
  }
  std::optional<SpanId> found;
  if (const auto& selected = view_.selected()) {
    found = forward ? find_next(*trace, query, *selected) : find_previous(*trace, query, *selected);
  } else {
    const TimeRange& seen = view_.view().range();
    found = forward ? find_next(*trace, query, seen.from) : find_previous(*trace, query, seen.to);
  }
  const Durations durations = durations_of(*trace, query);
  found_.show_durations(durations);
  if (!found) {
    emit told(tr("no span is “%1”").arg(search_->text()));
    return false;
  }
  view_.go_to(*found);
  emit told(tr("%1 spans are “%2”").arg(durations.spans).arg(search_->text()));
  emit searched();
  return true;
}

void SearchBar::narrow(core::Time at_least, core::Time less_than) {
  QStringList words = search_->text().split(QLatin1Char(' '), Qt::SkipEmptyParts);
  words.removeIf([](const QString& word) {
    return word.startsWith(QLatin1Char('<')) || word.startsWith(QLatin1Char('>'));
  });
  words.append(QString::fromStdString(Query::lasting(at_least, less_than)));
  find(words.join(QLatin1Char(' ')));
}

}  // namespace tutti::gui
