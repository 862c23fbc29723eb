// Runs SQL queries about the timeline in a thread (core/query). Sorting the table moves its rows,
// so each row keeps the values that select something in the timeline in its first cell. Saved
// queries are settings of the user. A query of a comparison reads both timelines; their spans are
// then looked up among the rows of the comparison, which may have moved them.

#include "gui/widgets/query_panel.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QInputDialog>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSettings>
#include <QSplitter>
#include <QTableWidget>
#include <QToolButton>
#include <QVBoxLayout>
#include <cmath>
#include <utility>

#include "gui/widgets/actions.h"
#include "gui/widgets/focus_frame.h"
#include "gui/widgets/table.h"
#include "gui/widgets/timeline_view.h"

namespace tutti::gui {

namespace {

const QString kSettings = QStringLiteral("queries");
constexpr int kValueRole = Qt::UserRole;  // the value of a cell as a number

/// A text field for SQL. Qt 6.4.2 crashes if an empty clipboard is pasted.
class SqlText : public QPlainTextEdit {
 protected:
  [[nodiscard]] bool canInsertFromMimeData(const QMimeData* source) const override {
    return source && source->hasText();
  }
  void insertFromMimeData(const QMimeData* source) override {
    if (canInsertFromMimeData(source)) QPlainTextEdit::insertFromMimeData(source);
  }
};

QString text_of_number(double value) {
  // Times are in microseconds; six decimals are a picosecond.
  QString text = QString::number(value, 'f', 6);
  while (text.endsWith(QLatin1Char('0'))) text.chop(1);
  if (text.endsWith(QLatin1Char('.'))) text.chop(1);
  const bool tiny = value != 0 && std::abs(value) < 1e-6;
  return tiny || std::abs(value) >= 1e15 ? QString::number(value, 'g', 6) : text;
}

QTableWidgetItem* item_of(const core::QueryValue& value) {
  if (const auto* const text = std::get_if<std::string>(&value)) {
    auto* const item = new QTableWidgetItem(QString::fromStdString(*text));
    item->setToolTip(item->text());
    return item;
  }
  const auto* const whole = std::get_if<std::int64_t>(&value);
  const auto* const real = std::get_if<double>(&value);
  if (!whole && !real) return new NumberItem(QString(), -INFINITY);  // NULL is below all numbers
  const double number = whole ? static_cast<double>(*whole) : *real;
  auto* const item =
      new NumberItem(whole ? QString::number(qlonglong{*whole}) : text_of_number(*real), number);
  item->setData(kValueRole, number);
  return item;
}

}  // namespace

QueryPanel::QueryPanel(TimelineView& view)
    : view_(view),
      text_(new SqlText),
      queries_(new QPushButton(tr("Queries"))),
      tables_(new QPushButton(tr("Tables"))),
      save_(new QToolButton),
      stop_(new QToolButton),
      run_(new QToolButton),
      message_(new QLabel),
      table_(make_table({}, tr("Result of the query"))) {
  text_->setAccessibleName(tr("SQL query"));
  text_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  text_->setTabChangesFocus(true);
  text_->setPlaceholderText(
      tr("SELECT … FROM spans (Ctrl+Return runs the query). Choose an example above."));
  text_->setAcceptDrops(false);
  text_->installEventFilter(this);
  frame_while_focused(*text_);
  queries_->setToolTip(tr("Examples and saved queries"));
  tables_->setToolTip(
      tr("Menu of the tables and their columns; choosing a table or column inserts its name"));
  for (QPushButton* const button : {queries_, tables_}) {
    button->setMenu(new QMenu(button));
    connect(button->menu(), &QMenu::aboutToShow, this, &QueryPanel::fill_menus);
  }
  save_->setText(tr("Save…"));
  stop_->setText(tr("Stop"));
  run_->setText(tr("Run"));
  run_->setToolTip(tr("Run the query (Ctrl+Return)"));
  stop_->setToolTip(tr("Stop the query (Esc)"));
  save_->setToolTip(tr("Save the query under a name"));
  message_->setWordWrap(true);
  message_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  message_->setObjectName(QStringLiteral("query message"));

  auto* const buttons = new QHBoxLayout;
  buttons->setContentsMargins(0, 0, 0, 0);
  buttons->addWidget(queries_);
  buttons->addWidget(tables_);
  buttons->addWidget(save_);
  buttons->addStretch(1);
  buttons->addWidget(stop_);
  buttons->addWidget(run_);
  for (QToolButton* const button : {save_, stop_, run_}) button->setFocusPolicy(Qt::StrongFocus);
  auto* const left = new QWidget;
  auto* const column = new QVBoxLayout(left);
  column->setContentsMargins(4, 2, 4, 2);
  column->setSpacing(3);
  column->addLayout(buttons);
  column->addWidget(text_, 1);
  column->addWidget(message_);
  auto* const both = new QSplitter;
  both->setChildrenCollapsible(false);
  both->addWidget(left);
  both->addWidget(table_);
  both->setStretchFactor(0, 2);
  both->setStretchFactor(1, 3);
  both->setSizes({320, 420});
  auto* const layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(both);

  table_->horizontalHeader()->setStretchLastSection(false);
  connect(run_, &QToolButton::clicked, this, &QueryPanel::run);
  connect(stop_, &QToolButton::clicked, this, &QueryPanel::stop);
  connect(save_, &QToolButton::clicked, this, &QueryPanel::ask_for_name);
  connect(table_, &QTableWidget::currentCellChanged, this, [this](int row) {
    if (!filling_ && table_->hasFocus()) go_to(row);
  });
  connect(table_, &QTableWidget::cellClicked, this, [this](int row) { go_to(row); });
  connect(table_, &QTableWidget::cellActivated, this, [this](int row) { go_to(row); });
  // Rows of another timeline would select wrong spans.
  connect(&view_, &TimelineView::trace_changed, this, [this] {
    task_.stop();
    task_.finish();
    clear_answer();
  });
  clear_answer();
  show_running();
}

void QueryPanel::add_actions(Actions& actions) {
  actions.add(tr("&Select"), "query", tr("&Query the timeline in SQL"),
              QStringLiteral("Ctrl+Alt+Q"), [this] {
                emit query_wanted();
                text_->setFocus();
              });
}

void QueryPanel::set_query(const QString& sql) { text_->setPlainText(sql); }

QString QueryPanel::message() const { return message_->text(); }

std::shared_ptr<const QueryPanel::Source> QueryPanel::source() {
  const std::shared_ptr<const Trace> trace = view_.shared_trace();
  if (source_ && source_->trace == trace) return source_;
  std::vector<core::QueriedTimeline> timelines;
  for (std::size_t s = 0; s < trace->sides().size(); ++s) {
    const Trace& own = trace->parts() ? *trace->parts()->source(s) : *trace;
    const Side& side = trace->sides()[s];
    timelines.push_back({side.name.empty() ? side.run.executor : side.name, &own.reader()});
  }
  source_ = std::make_shared<const Source>(Source{trace, core::TimelineQuery(timelines)});
  return source_;
}

void QueryPanel::run() {
  if (!view_.trace()) return show_message(tr("open a timeline first"), true);
  task_.stop();
  task_.finish();
  // The table and the button lose the focus when they are disabled, and Esc must stop the query.
  if (isAncestorOf(QApplication::focusWidget())) text_->setFocus();
  const std::string sql = text_->toPlainText().toStdString();
  task_.begin([sql, queried = source()](const std::atomic<bool>& stop) {
    QElapsedTimer timer;
    timer.start();
    core::QueryOptions options;
    options.stop = &stop;
    return queried->query.run(sql, options).map([&](core::QueryResult result) {
      return Answer{std::move(result), static_cast<double>(timer.elapsed()) / 1000};
    });
  });
  show_running();
}

void QueryPanel::stop() { task_.stop(); }

void QueryPanel::wait() {
  QEventLoop loop;
  connect(this, &QueryPanel::answered, &loop, &QEventLoop::quit);
  if (is_running()) loop.exec();
  // QCoreApplication::exit() ends the loop before the query has ended.
  task_.stop();
  task_.finish();
}

void QueryPanel::take_answer(const core::Expected<Answer>& answer) {
  if (answer) {
    show_answer(*answer);
  } else {
    show_error(QString::fromStdString(answer.error().message()));
  }
  show_running();
  emit answered();
}

void QueryPanel::show_running() {
  run_->setEnabled(!is_running());
  stop_->setEnabled(is_running());
  table_->setEnabled(!is_running());
  if (is_running()) show_message(tr("the query is running; Esc stops it"), false);
}

void QueryPanel::show_message(const QString& text, bool wrong) {
  failed_ = wrong;
  message_->setToolTip({});
  message_->setText(text);
  message_->setVisible(!text.isEmpty());
  QFont font = message_->font();
  font.setBold(wrong);
  message_->setFont(font);
}

/// Shows an error. If there are no rows of an earlier query, their place shows the error too, since
/// a long error does not fit below the query.
void QueryPanel::show_error(const QString& text) {
  show_message(text, true);
  message_->setToolTip(text);
  set_empty_text(*table_, text);
}

void QueryPanel::clear_answer() {
  source_.reset();
  table_->setRowCount(0);
  set_empty_text(*table_, tr("The rows of the result appear here."));
  show_message({}, false);
}

void QueryPanel::show_answer(const Answer& answer) {
  const core::QueryResult& result = answer.result;
  set_empty_text(*table_, tr("The result has no rows."));
  filling_ = true;
  table_->setSortingEnabled(false);
  table_->setRowCount(0);
  table_->setColumnCount(static_cast<int>(result.columns.size()));
  QStringList titles;
  for (const std::string& column : result.columns) titles.append(QString::fromStdString(column));
  table_->setHorizontalHeaderLabels(titles);
  span_column_ = static_cast<int>(titles.indexOf(QStringLiteral("span_id")));
  start_column_ = static_cast<int>(titles.indexOf(QStringLiteral("start_us")));
  end_column_ = static_cast<int>(titles.indexOf(QStringLiteral("end_us")));
  table_->setRowCount(static_cast<int>(result.rows.size()));
  for (std::size_t r = 0; r < result.rows.size(); ++r) {
    for (std::size_t c = 0; c < result.columns.size(); ++c)
      table_->setItem(static_cast<int>(r), static_cast<int>(c), item_of(result.rows[r][c]));
  }
  // No column is sorted until the user clicks on one, so the order of the query stays.
  table_->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
  table_->setSortingEnabled(true);
  table_->resizeColumnsToContents();
  filling_ = false;
  const QString time = QString::number(answer.seconds, 'f', 2);
  show_message(
      result.truncated
          ? tr("only the first %1 rows are shown (%2 s); restrict the query with WHERE or LIMIT")
                .arg(result.rows.size())
                .arg(time)
      : result.rows.size() == 1 ? tr("1 row, in %1 s").arg(time)
                                : tr("%1 rows, in %2 s").arg(result.rows.size()).arg(time),
      false);
}

std::optional<SpanId> QueryPanel::span_of(std::int64_t id) const {
  const auto place = source_ ? source_->query.place_of(id) : std::nullopt;
  if (!place) return std::nullopt;
  const Trace& trace = *source_->trace;
  const auto index = static_cast<SpanRow::Index>(place->index);
  if (!trace.parts()) {
    const auto row = trace.row_of(place->track);
    return row ? std::optional(SpanId{*row, index}) : std::nullopt;
  }
  const Trace& own = *trace.parts()->source(place->timeline);
  const auto own_row = own.row_of(place->track);
  if (!own_row || index >= own.rows()[*own_row].spans.size()) return std::nullopt;
  return trace.parts()->place(place->timeline, {*own_row, index});
}

void QueryPanel::go_to(int row) {
  if (!source_ || source_->trace != view_.shared_trace()) return;
  const auto number = [&](int column) -> std::optional<double> {
    const QTableWidgetItem* const item = column < 0 ? nullptr : table_->item(row, column);
    const QVariant value = item ? item->data(kValueRole) : QVariant();
    return value.isValid() ? std::optional(value.toDouble()) : std::nullopt;
  };
  if (const auto id = number(span_column_)) {
    if (const auto span = span_of(static_cast<std::int64_t>(*id))) view_.go_to(*span);
    return;
  }
  const auto from = number(start_column_), to = number(end_column_);
  if (!from || !to || !(*from >= 0 && *to > *from)) return;
  if (view_.trace()->parts())
    return show_message(tr("with two timelines, a row of the result selects a span only if the "
                           "result has the column span_id"),
                        false);
  const auto time = [&](double us) {
    const core::Time end = view_.view().run_length();
    return us >= core::to_us(end) ? end : core::Time(std::llround(us * 1e6));
  };
  const TimeRange range{time(*from), time(*to)};
  if (range.from >= range.to) return;
  view_.select_range(range);
  const TimeRange& seen = view_.view().range();
  if (range.from >= seen.from && range.to <= seen.to) return;
  const core::Time margin(range.length().count() / 2);
  view_.show_range({range.from - margin, range.to + margin});
}

bool QueryPanel::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::KeyPress && event->type() != QEvent::ShortcutOverride)
    return QWidget::eventFilter(watched, event);
  const auto* const key = static_cast<QKeyEvent*>(event);
  const bool enter = (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) &&
                     key->modifiers() & Qt::ControlModifier;
  const bool escape = key->key() == Qt::Key_Escape && is_running();
  if (!enter && !escape) return QWidget::eventFilter(watched, event);
  // Accept these keys here, because other actions of the window have the same shortcuts.
  event->accept();
  if (event->type() == QEvent::KeyPress) enter ? run() : stop();
  return true;
}

/// Stops the query by Esc in any part of the panel.
bool QueryPanel::event(QEvent* event) {
  const bool of_key =
      event->type() == QEvent::KeyPress || event->type() == QEvent::ShortcutOverride;
  if (!of_key || !is_running() || static_cast<QKeyEvent*>(event)->key() != Qt::Key_Escape)
    return QWidget::event(event);
  event->accept();
  if (event->type() == QEvent::KeyPress) stop();
  return true;
}

QStringList QueryPanel::saved() {
  QSettings settings;
  settings.beginGroup(kSettings);
  QStringList names = settings.childKeys();
  for (QString& name : names)
    name = QString::fromUtf8(QByteArray::fromPercentEncoding(name.toUtf8()));
  names.sort(Qt::CaseInsensitive);
  return names;
}

/// Returns the key of a saved query. Names may have characters that keys of settings cannot have.
static QString key_of(const QString& name) {
  return kSettings + QLatin1Char('/') + QString::fromLatin1(name.toUtf8().toPercentEncoding());
}

void QueryPanel::save(const QString& name) {
  if (!name.trimmed().isEmpty()) QSettings().setValue(key_of(name.trimmed()), text_->toPlainText());
}

void QueryPanel::forget(const QString& name) { QSettings().remove(key_of(name)); }

void QueryPanel::ask_for_name() {
  if (text_->toPlainText().trimmed().isEmpty())
    return show_message(tr("there is no query to save; enter one first"), true);
  bool wanted = false;
  const QString name = QInputDialog::getText(this, tr("Save the query"), tr("Name of the query:"),
                                             QLineEdit::Normal, {}, &wanted);
  if (!wanted) return;
  save(name);
  show_message(tr("saved as “%1”").arg(name.trimmed()), false);
}

void QueryPanel::fill_menus() {
  QMenu* const queries = queries_->menu();
  queries->clear();
  const auto add = [this](QMenu* menu, const QString& title, const QString& sql) {
    menu->addAction(title, this, [this, sql] {
      set_query(sql);
      run();
    });
  };
  for (const core::ExampleQuery& example : core::example_queries())
    add(queries, QString::fromStdString(example.title), QString::fromStdString(example.sql));
  const QStringList names = saved();
  if (!names.isEmpty()) {
    queries->addSeparator();
    auto* const remove = new QMenu(tr("Remove a saved query"), queries);
    for (const QString& name : names) {
      add(queries, name, QSettings().value(key_of(name)).toString());
      remove->addAction(name, this, [this, name] { forget(name); });
    }
    queries->addMenu(remove);
  }
  QMenu* const tables = tables_->menu();
  tables->clear();
  for (const core::QueryTable& table : core::query_tables()) {
    QMenu* const columns = tables->addMenu(QString::fromStdString(table.name));
    columns->setToolTipsVisible(true);
    columns->menuAction()->setToolTip(QString::fromStdString(table.about));
    const auto insert = [this](const std::string& name) {
      return [this, name] {
        text_->insertPlainText(QString::fromStdString(name));
        text_->setFocus();
      };
    };
    columns->addAction(QString::fromStdString(table.name), this, insert(table.name))
        ->setToolTip(QString::fromStdString(table.about));
    columns->addSeparator();
    for (const std::string& column : table.columns)
      columns->addAction(QString::fromStdString(column), this, insert(column));
  }
}

}  // namespace tutti::gui
