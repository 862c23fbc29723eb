// Opens a second timeline, starts the comparison, and lists the largest differences. A thread
// computes the comparison and then the differences. Each result is sent to the window's thread as
// soon as it is available. After a change of the alignment, only the comparison is computed again,
// since the differences in duration do not change. The view then keeps the selected span at its
// position. If no span is selected, its left edge continues to show the same time of the first
// timeline: the old delays convert the position of the edge to this time, and the new delays
// convert the time to the new position.
//
// Qt sorts the rows of the table, so each row stores the index of the difference that it shows.
// Comparisons are made in gui/comparison, and the window shows the resulting trace.

#include "gui/window/comparison_panel.h"

#include <QComboBox>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QSettings>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "core/base/format.h"
#include "gui/comparison/comparison_rows.h"
#include "gui/paint/text_of.h"
#include "gui/trace/guarded.h"
#include "gui/widgets/actions.h"
#include "gui/widgets/table.h"
#include "gui/widgets/tell.h"
#include "gui/widgets/timeline_view.h"

namespace tutti::gui {

using core::Time;

namespace {

/// The maximum number of packs in the list, which is also the maximum number of spans.
constexpr std::size_t kMax = 300;
constexpr int kDifferenceColumn = 6;
constexpr int kWidestTitle = 130;

}  // namespace

ComparisonPanel::ComparisonPanel(TimelineView& view)
    : view_(view),
      words_(new QLabel),
      alignment_(new QComboBox),
      arrangement_(new QComboBox),
      sort_(new QComboBox),
      table_(make_table({tr("what"), tr("step"), tr("pack"), tr("where"), tr("first"), tr("second"),
                         tr("difference"), tr("share")},
                        tr("Largest differences between the two timelines"))) {
  const QSettings settings;
  align_ = parse_align(settings.value(QStringLiteral("align")).toString().toStdString())
               .value_or(Align::kStep);
  if (settings.value(QStringLiteral("arrangement")).toString() == QLatin1String("sides"))
    view_.arrange(Arrangement::kSides);
  auto* const layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  auto* const bar = new QHBoxLayout;
  bar->setContentsMargins(4, 2, 4, 0);
  alignment_->addItems({tr("aligned by start"), tr("aligned by step"), tr("aligned by pack")});
  alignment_->setAccessibleName(tr("Alignment of the two timelines"));
  arrangement_->addItems({tr("matching rows next to each other"), tr("first above second")});
  arrangement_->setAccessibleName(tr("Order of the rows of both timelines"));
  sort_->addItems({tr("steps and packs"), tr("steps and their parts"), tr("packs"),
                   tr("spans of single devices"), tr("all of these")});
  sort_->setAccessibleName(tr("What is listed"));
  for (QComboBox* const choice : {alignment_, arrangement_, sort_}) {
    choice->setMinimumWidth(80);  // leaves space for the details next to it
    bar->addWidget(choice);
  }
  bar->addStretch(1);
  words_->setObjectName(QStringLiteral("listed"));
  words_->setTextFormat(Qt::PlainText);
  words_->setIndent(6);
  words_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  layout->addLayout(bar);
  layout->addWidget(words_);
  layout->addWidget(table_, 1);
  table_->horizontalHeader()->setStretchLastSection(false);
  table_->setSortingEnabled(true);
  table_->horizontalHeader()->setSortIndicator(kDifferenceColumn, Qt::DescendingOrder);
  show_controls();
  connect(alignment_, &QComboBox::activated, this,
          [this](int at) { align(static_cast<Align>(at)); });
  connect(arrangement_, &QComboBox::activated, this, [this](int at) {
    view_.arrange(at == 0 ? Arrangement::kPairs : Arrangement::kSides);
    show_controls();
  });
  connect(sort_, &QComboBox::activated, this, &ComparisonPanel::fill);
  connect(table_, &QTableWidget::cellClicked, this, &ComparisonPanel::go_to);
  connect(table_, &QTableWidget::cellActivated, this, &ComparisonPanel::go_to);
  connect(&opener_, &FileOpener::progress, this, &ComparisonPanel::progress);
  connect(&opener_, &FileOpener::failed, this, [this](const QString& why) {
    cancel_open();
    emit failed(why);
  });
  connect(&opener_, &FileOpener::opened, this,
          [this](const std::shared_ptr<const Trace>& trace, const QString& path) {
            second_ = trace;
            second_path_ = path;
            put_together(false);
          });
}

void ComparisonPanel::add_actions(Actions& actions) {
  const QString file = tr("&File"), compare = tr("Co&mpare");
  actions.add(
      file, "open-beside", tr("Open a second timeline &beside…"), QStringLiteral("Ctrl+Shift+O"),
      [this] {
        if (!first_)
          return emit status_message(tr("open a timeline first, then a second one to compare"));
        emit second_wanted();
      });
  actions.add(compare, "close-beside", tr("&Close the second timeline"),
              QStringLiteral("Ctrl+Shift+W"), [this] { close_second(); });
  actions.begin_section(compare);
  actions.add_switch(
      compare, "align-start", tr("Align by &start"), QStringLiteral("Alt+1"),
      [this] { align(Align::kStart); }, [this] { return align_ == Align::kStart; });
  actions.add_switch(
      compare, "align-step", tr("Align by s&tep"), QStringLiteral("Alt+2"),
      [this] { align(Align::kStep); }, [this] { return align_ == Align::kStep; });
  actions.add_switch(
      compare, "align-pack", tr("Align by &pack"), QStringLiteral("Alt+3"),
      [this] { align(Align::kPack); }, [this] { return align_ == Align::kPack; });
  actions.add(compare, "arrange",
              tr("Switch between m&atching rows next to each other and the first timeline above "
                 "the second"),
              QStringLiteral("I"), [this] {
                const bool pairs = view_.arrangement() == Arrangement::kPairs;
                view_.arrange(pairs ? Arrangement::kSides : Arrangement::kPairs);
                show_controls();
              });
  actions.begin_section(compare);
  actions.add(compare, "partner", tr("Matching span in the &other timeline"), QStringLiteral("X"),
              [this] { view_.select_partner(); });
  actions.add(compare, "error-next", tr("N&ext of the largest differences"), QStringLiteral("E"),
              [this] { walk(1); });
  actions.add(compare, "error-previous", tr("Previous of the largest differences"),
              QStringLiteral("Shift+E"), [this] { walk(-1); });
}

void ComparisonPanel::show_controls() {
  alignment_->setCurrentIndex(static_cast<int>(comparison_ ? comparison_->align : align_));
  arrangement_->setCurrentIndex(view_.arrangement() == Arrangement::kPairs ? 0 : 1);
  for (QWidget* const control : {static_cast<QWidget*>(alignment_),
                                 static_cast<QWidget*>(arrangement_), static_cast<QWidget*>(sort_)})
    control->setEnabled(comparison_.has_value());
  if (!comparison_) {
    words_->setText(tr("no second timeline is open (Ctrl+Shift+O opens one)"));
    words_->show();
  }
  QSettings settings;
  if (settings.value(QStringLiteral("arrangement")).isValid() ||
      view_.arrangement() == Arrangement::kSides)
    settings.setValue(QStringLiteral("arrangement"), view_.arrangement() == Arrangement::kPairs
                                                         ? QStringLiteral("pairs")
                                                         : QStringLiteral("sides"));
}

// --- opening ---

void ComparisonPanel::stop() {
  opener_.stop();
  if (stop_) *stop_ = true;
  if (thread_.joinable()) thread_.join();
}

void ComparisonPanel::set_first(std::shared_ptr<const Trace> trace, const QString& path) {
  stop();
  first_ = std::move(trace);
  first_path_ = path;
  second_ = nullptr;
  comparison_.reset();
  deviations_.clear();
  fill();
  show_controls();
}

void ComparisonPanel::open(const QString& path) {
  if (!first_) return emit failed(tr("%1: open a first timeline before this second one").arg(path));
  stop();
  emit status_message(tr("opening %1 …").arg(QFileInfo(path).fileName()));
  opener_.open(path);
}

void ComparisonPanel::cancel_open() {
  stop();
  second_ = comparison_ ? comparison_->sources[1] : nullptr;
  second_path_ = comparison_ ? shown_path_ : QString();
  // The list of differences may not have been complete when opening began.
  if (comparison_ && deviations_.empty()) put_together(true);
}

void ComparisonPanel::close_second() {
  if (!second_) return emit status_message(tr("there is no second timeline"));
  const std::shared_ptr<const Trace> first = first_;
  set_first(first, first_path_);
  emit closed(first, first_path_);
}

void ComparisonPanel::align(Align align) {
  align_ = align;
  QSettings().setValue(QStringLiteral("align"), text_of(to_string(align)));
  if (!comparison_)
    return emit status_message(
        tr("second timelines that you open from now on will be aligned by %1")
            .arg(text_of(to_string(align))));
  put_together(true);
}

template <class What>
void ComparisonPanel::work(What what) {
  if (stop_) *stop_ = true;
  if (thread_.joinable()) thread_.join();
  // Give every job its own stop flag. A result of a stopped job may be in the event queue, so the
  // handler of a result first checks the job's flag.
  stop_ = std::make_shared<std::atomic<bool>>(false);
  thread_ = std::jthread([this, what, stop = stop_] {
    const auto report_unless_stopped = [this, stop](auto then) {
      tell(this, [stop, then] {
        if (!*stop) then();
      });
    };
    if (const auto thrown = guarded([&] { what(*stop, report_unless_stopped); }))
      report_unless_stopped(
          [this, why = text_of(thrown->message())] { emit failed(tr("comparing: %1").arg(why)); });
  });
}

void ComparisonPanel::put_together(bool again) {
  const bool needs_errors = !again || deviations_.empty();
  work([this, again, needs_errors, first = first_, second = second_, align = align_,
        first_path = first_path_.toStdString(),
        second_path = second_path_.toStdString()](const std::atomic<bool>& stop, const auto& tell) {
    auto comparison = std::make_shared<Comparison>(
        compare_traces(first, second, align, {first_path, second_path}, stop));
    if (stop) return;
    const core::Numbers packs = comparison->packs;
    const std::vector<core::StepComparison> steps = comparison->steps;
    tell([this, comparison, again] { show_comparison(std::move(*comparison), again); });
    if (!needs_errors) return;
    auto deviations =
        largest_deviations(first->reader(), second->reader(), steps, packs, kMax, stop);
    if (!deviations) {
      return tell([this, why = text_of(deviations.error().message())] {
        words_->setText(why);
        emit status_message(why);
        emit listed();
      });
    }
    tell([this, deviations = std::move(*deviations)] { show_deviations(deviations); });
  });
}

void ComparisonPanel::show_comparison(Comparison comparison, bool again) {
  // Find the visible range in which the selected span has the same position as before. If no span
  // is selected, keep the time of the first timeline at the left edge.
  std::optional<std::pair<std::size_t, SpanId>> selected;
  std::optional<TimeRange> range;
  const TimeRange seen = view_.view().range();
  if (again && comparison_ && view_.trace() == comparison_->trace.get()) {
    if (view_.selected())
      selected = {view_.trace()->rows()[view_.selected()->row].side,
                  comparison_->rows->origin(*view_.selected())};
    const bool all = seen.length() >= view_.view().run_length();
    const Time own = comparison_->alignment.delays[0].own(seen.from);
    const Time begin = own + comparison.alignment.delays[0].at(own);
    if (!all) range = TimeRange{begin, begin + seen.length()};
  }
  comparison_ = std::move(comparison);
  shown_path_ = second_path_;
  emit shown(comparison_->trace, again, range);
  if (selected) view_.go_to(comparison_->rows->place(selected->first, selected->second));
  show_controls();
  const auto& sides = comparison_->trace->sides();
  for (int s = 0; s < 2; ++s) {
    const QString name = text_of(sides[s].name);
    auto* const title = new QTableWidgetItem(
        fontMetrics().elidedText(text_of(sides[s].label), Qt::ElideLeft, kWidestTitle));
    title->setToolTip(name);
    table_->setHorizontalHeaderItem(4 + s, title);
  }
  // If only the alignment has changed, the list of differences stays the same.
  if (again && !deviations_.empty()) {
    report_listed();
  } else {
    words_->setText(tr("comparing …"));
  }
  arrangement_->setItemText(1,
                            tr("%1 above %2").arg(text_of(sides[0].name), text_of(sides[1].name)));
  QStringList said;
  for (const std::string& sentence : comparison_->differences) said.append(text_of(sentence));
  emit status_message(said.isEmpty()
                          ? tr("both timelines have the same scenario, steps, workers and packs")
                          : said.join(tr("; ")));
}

// --- errors ---

void ComparisonPanel::show_deviations(std::vector<Deviation> deviations) {
  deviations_ = std::move(deviations);
  fill();
  emit listed();
}

void ComparisonPanel::fill() {
  table_->setSortingEnabled(false);
  table_->setRowCount(0);
  listed_.clear();
  const int wanted = sort_->currentIndex();
  for (std::size_t i = 0; i < deviations_.size(); ++i) {
    const auto sort = deviations_[i].sort;
    const int group = sort == Deviation::Sort::kPack ? 2 : sort == Deviation::Sort::kSpan ? 3 : 1;
    const bool is_wanted = wanted == 4 || wanted == group || (wanted == 0 && group != 3);
    if (is_wanted && deviations_[i].time.difference() != Time()) listed_.push_back(i);
  }
  report_listed();
  table_->setRowCount(static_cast<int>(listed_.size()));
  for (int row = 0; row < table_->rowCount(); ++row) {
    const std::size_t number = listed_[row];
    const Deviation& d = deviations_[number];
    auto* const what = new QTableWidgetItem(text_of(d.what));
    what->setData(Qt::UserRole, static_cast<qulonglong>(number));
    table_->setItem(row, 0, what);
    table_->setItem(row, 1, new NumberItem(QString::number(d.step), d.step));
    table_->setItem(row, 2,
                    new NumberItem(d.pack < 0 ? QString() : QString::number(d.pack), d.pack));
    table_->setItem(row, 3, new QTableWidgetItem(text_of(d.where)));
    table_->setItem(row, 4,
                    new NumberItem(text_of(d.time.a), static_cast<double>(d.time.a.count())));
    table_->setItem(row, 5,
                    new NumberItem(text_of(d.time.b), static_cast<double>(d.time.b.count())));
    const double difference = static_cast<double>(d.time.difference().count());
    const QString sign = difference < 0 ? QStringLiteral("−") : QStringLiteral("+");
    table_->setItem(row, kDifferenceColumn,
                    new NumberItem(sign + text_of(difference < 0 ? Time() - d.time.difference()
                                                                 : d.time.difference()),
                                   std::abs(difference)));
    const auto share = d.time.share();
    table_->setItem(row, 7,
                    new NumberItem(text_of(signed_share(d.time)), share ? std::abs(*share) : -1));
  }
  const auto is_of_span = [this](std::size_t i) {
    return deviations_[i].sort == Deviation::Sort::kSpan;
  };
  table_->setColumnHidden(3, std::none_of(listed_.begin(), listed_.end(), is_of_span));
  table_->setSortingEnabled(true);
  table_->resizeColumnsToContents();
}

void ComparisonPanel::report_listed() {
  if (!comparison_) return;
  const QString second = text_of(comparison_->trace->sides()[1].name);
  if (deviations_.empty()) {
    words_->setText(
        tr("there is nothing to compare, because no training step ended in both timelines"));
  } else if (listed_.empty()) {
    words_->setText(tr("no differences: all compared durations are equal"));
  } else {
    words_->setText(tr("the bars show %1s: bars at the bottom if %2 is slower, at the top if %2 is "
                       "faster; a bar of full height means 25 % or more")
                        .arg(text_of(comparison_->apart), second));
  }
  words_->setToolTip(words_->text());
}

/// Shows the activity of a row of the list in the timeline view: a span and its matching span in
/// the other timeline, or a training step.
void ComparisonPanel::go_to(int row) {
  const QTableWidgetItem* const cell = table_->item(row, 0);
  if (!comparison_ || !cell) return;
  const auto number = static_cast<std::size_t>(cell->data(Qt::UserRole).toULongLong());
  if (number >= deviations_.size()) return;
  const Deviation& d = deviations_[number];
  std::optional<SpanId> span;
  if (d.sort == Deviation::Sort::kSpan) span = comparison_->find(0, d.track, d.start);
  if (d.sort == Deviation::Sort::kPack) span = comparison_->find_pack(d.step, d.pack);
  if (!span) {
    const auto range = comparison_->find_step(d.step);
    if (!range) return;
    view_.clear_selection();
    view_.select_range(range);
    return view_.show_range(*range);
  }
  view_.select_range(std::nullopt);
  view_.go_to(*span);
  // Zoom to both spans, so that their difference is visible.
  const auto& rows = view_.trace()->rows();
  TimeRange whole{rows[span->row].spans.start(span->index), rows[span->row].spans.end(span->index)};
  for (const SpanId& partner : view_.partners()) {
    const SpanRow& spans = rows[partner.row].spans;
    whole = {std::min(whole.from, spans.start(partner.index)),
             std::max(whole.to, spans.end(partner.index))};
  }
  const TimeRange seen = view_.view().range();
  const bool tiny = whole.length().count() < seen.length().count() / 10;
  if (whole.from >= seen.from && whole.to <= seen.to && !tiny) return;
  const Time margin(whole.length().count() + 1);
  view_.show_range({whole.from - margin, whole.to + margin});
}

bool ComparisonPanel::go_to_error(int row) {
  if (row >= table_->rowCount()) return false;
  table_->selectRow(row);
  go_to(row);
  return true;
}

int ComparisonPanel::errors() const { return table_->rowCount(); }

void ComparisonPanel::walk(int by) {
  if (table_->rowCount() == 0)
    return emit status_message(
        tr("there is no second timeline, or the timelines have no common spans"));
  const int now = table_->currentRow();
  go_to_error(now < 0 ? 0 : std::clamp(now + by, 0, table_->rowCount() - 1));
}

}  // namespace tutti::gui
