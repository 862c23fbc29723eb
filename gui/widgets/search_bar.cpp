#include "gui/widgets/search_bar.h"

#include <QLabel>
#include <QLineEdit>

#include "gui/trace/search.h"
#include "gui/widgets/actions.h"
#include "gui/widgets/found_panel.h"
#include "gui/widgets/timeline_view.h"

namespace tutti::gui {

namespace {

constexpr int kPauseMs = 200;
/// If the trace has more spans than this, matches are counted only when the user goes to the next
/// match, because counting would delay typing.
constexpr std::int64_t kQuickToCount = 2'000'000;

}  // namespace

SearchBar::SearchBar(TimelineView& view, FoundPanel& found)
    : view_(view),
      found_(found),
      search_(new QLineEdit),
      count_(new QLabel),
      filter_(new QLineEdit) {
  view.add_overlay(highlights_);
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
  // Do not accept dropped files, so that the window opens them.
  for (QLineEdit* const line : {search_, filter_}) line->setAcceptDrops(false);
  count_->setObjectName(QStringLiteral("matches"));
  count_->setContentsMargins(6, 0, 6, 0);
  addWidget(search_);
  addWidget(count_);
  addWidget(filter_);
  typed_.setSingleShot(true);
  typed_.setInterval(kPauseMs);
  connect(&typed_, &QTimer::timeout, this, &SearchBar::count_matches);
  connect(search_, &QLineEdit::textChanged, this, [this] {
    forget_matches();
    typed_.start();
  });
  connect(search_, &QLineEdit::returnPressed, this, [this] { find(true); });
  connect(filter_, &QLineEdit::textChanged, &view_, &TimelineView::filter);
  connect(filter_, &QLineEdit::textChanged, this, &SearchBar::filter_changed);
  // Clear the histogram and the matches, which belong to the previous timeline.
  connect(&view_, &TimelineView::trace_changed, this, [this] {
    found_.show_durations({});
    forget_matches();
    typed_.start();
  });
  connect(&found_, &FoundPanel::narrowed, this, &SearchBar::narrow);
}

void SearchBar::add_actions(Actions& actions) {
  const QString select = tr("&Select");
  actions.begin_section(select);
  actions.add(select, "find", tr("&Find spans"), QStringLiteral("Ctrl+F; /"), [this] {
    if (view_.trace()) show();
    search_->setFocus();
    search_->selectAll();
  });
  actions.add(select, "find-next", tr("Find the next"), QStringLiteral("F3"),
              [this] { find(true); });
  actions.add(select, "find-previous", tr("Find the previous"), QStringLiteral("Shift+F3"),
              [this] { find(false); });
  actions.add(tr("R&ows"), "filter", tr("&Only rows with …"), QStringLiteral("Ctrl+L"), [this] {
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
    emit status_message(tr("enter a search term, such as: pack 3"));
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
  typed_.stop();
  if (!found) {
    count_->setText(tr("no match"));
    emit status_message(why_no_match(query));
    return false;
  }
  view_.go_to(*found);
  highlights_.show(query);
  count_->setText(tr("%1 of %2").arg(rank_of(*trace, query, *found)).arg(durations.spans));
  emit status_message(tr("%1 spans match “%2”").arg(durations.spans).arg(search_->text()));
  emit searched();
  return true;
}

QString SearchBar::why_no_match(const Query& query) const {
  const QString word = QString::fromStdString(query.unknown_word());
  if (word.isEmpty()) return tr("no span matches “%1”").arg(search_->text());
  if (word.startsWith(QLatin1Char('<')) || word.startsWith(QLatin1Char('>')))
    return tr("“%1” is not a duration; write a number and its unit, such as >1ms or <20us")
        .arg(word);
  return tr("no span matches “%1”, because no kind, row, layer or gradient of this timeline is "
            "called “%2”")
      .arg(search_->text(), word);
}

QString SearchBar::filter_text() const { return filter_->text(); }

void SearchBar::filter(const QString& text) {
  show();
  filter_->setText(text);
}

void SearchBar::forget_matches() {
  highlights_.show(std::nullopt);
  count_->clear();
  view_.update();
}

/// Underlines and counts the matches of the text, without selecting a match.
void SearchBar::count_matches() {
  if (!view_.trace() || search_->text().trimmed().isEmpty()) return;
  const Query query(search_->text().toStdString(), *view_.trace());
  highlights_.show(query);
  view_.update();
  if (view_.trace()->spans() > kQuickToCount) return;
  const std::int64_t spans = durations_of(*view_.trace(), query).spans;
  count_->setText(spans == 0   ? tr("no match")
                  : spans == 1 ? tr("1 match")
                               : tr("%1 matches").arg(spans));
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
