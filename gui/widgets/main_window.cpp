#include "gui/widgets/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDialog>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QMimeData>
#include <QProgressBar>
#include <QPushButton>
#include <QSaveFile>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTableWidget>
#include <QTextBrowser>
#include <QToolBar>
#include <QVBoxLayout>
#include <algorithm>

#include "core/base/format.h"
#include "core/base/version.h"
#include "gui/model/statistics.h"
#include "gui/widgets/command_palette.h"

namespace tutti::gui {

using core::Time;

namespace {

constexpr int kMostRecent = 10;

QTableWidget* facts_table(const QStringList& titles, const QString& name) {
  auto* const table = new QTableWidget(0, static_cast<int>(titles.size()));
  table->setHorizontalHeaderLabels(titles);
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table->setSelectionBehavior(QAbstractItemView::SelectRows);
  table->verticalHeader()->hide();
  table->verticalHeader()->setDefaultSectionSize(22);
  table->horizontalHeader()->setStretchLastSection(true);
  table->setAccessibleName(name);
  return table;
}

void set_row(QTableWidget& table, int row, const QStringList& texts) {
  for (int column = 0; column < texts.size(); ++column) {
    auto* const item = new QTableWidgetItem(texts[column]);
    item->setToolTip(texts[column]);
    table.setItem(row, column, item);
  }
}

QString text_of(Time t) { return QString::fromStdString(core::show(t)); }

}  // namespace

MainWindow::MainWindow()
    : stack_(new QStackedWidget(this)),
      view_(new TimelineView),
      overview_(new OverviewStrip),
      search_(new QLineEdit),
      filter_(new QLineEdit),
      details_(facts_table({tr("what"), tr("value")}, tr("Details"))),
      numbers_(facts_table({tr("kind"), tr("count"), tr("sum"), tr("mean"), tr("p50"), tr("p99"), tr("longest")},
                           tr("Numbers of the range"))),
      where_(new QLabel),
      progress_(new QProgressBar) {
  setWindowTitle(tr("Tutti"));
  setAcceptDrops(true);
  resize(1280, 800);
  auto* const page = new QWidget;
  auto* const layout = new QVBoxLayout(page);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(overview_);
  layout->addWidget(view_, 1);
  stack_->addWidget(make_welcome());
  stack_->addWidget(page);
  setCentralWidget(stack_);
  make_docks();
  make_actions();
  progress_->setMaximumWidth(200);
  progress_->hide();
  statusBar()->addPermanentWidget(progress_);
  statusBar()->addPermanentWidget(where_);

  connect(view_, &TimelineView::view_changed, this, [this] { overview_->set_range(view_->view().range()); });
  connect(view_, &TimelineView::view_changed, this, [this] {
    actions_.find(QStringLiteral("back"))->setEnabled(view_->view().can_go_back());
    actions_.find(QStringLiteral("forward"))->setEnabled(view_->view().can_go_forward());
  });
  connect(view_, &TimelineView::view_changed, this, &MainWindow::update_numbers);
  connect(view_, &TimelineView::range_changed, this, &MainWindow::update_numbers);
  connect(view_, &TimelineView::selection_changed, this, &MainWindow::update_details);
  connect(view_, &TimelineView::cursor_moved, this, &MainWindow::update_cursor);
  connect(overview_, &OverviewStrip::range_wanted, view_, &TimelineView::glide_to);
  connect(overview_, &OverviewStrip::settled, view_, &TimelineView::settle);
  connect(search_, &QLineEdit::returnPressed, this, [this] { find(true); });
  connect(filter_, &QLineEdit::textChanged, view_, &TimelineView::filter);

  const QSettings settings;
  const QVariant dark = settings.value(QStringLiteral("dark"));
  set_dark(dark.isValid() ? dark.toBool() : palette().color(QPalette::Window).lightness() < 128);
  restoreGeometry(settings.value(QStringLiteral("geometry")).toByteArray());
  restoreState(settings.value(QStringLiteral("docks")).toByteArray());
}

MainWindow::~MainWindow() { stop_opening(); }

QWidget* MainWindow::make_welcome() {
  auto* const page = new QWidget;
  auto* const layout = new QVBoxLayout(page);
  layout->addStretch(2);
  auto* const text = new QLabel(
      tr("<h2>No timeline is open</h2>"
         "<p>A timeline is what <b>tutti simulate</b> or <b>tutti run</b> write down of a step:</p>"
         "<pre>tutti simulate scenarios/04_resnet50_ring.textproto --timeline mine.tutti\ntutti view mine.tutti</pre>"
         "<p>Open one, or drop it here. <b>Ctrl+P</b> lists all that can be done, <b>?</b> explains it.</p>"));
  text->setAlignment(Qt::AlignCenter);
  text->setTextInteractionFlags(Qt::TextSelectableByMouse);
  layout->addWidget(text, 0, Qt::AlignCenter);
  auto* const button = new QPushButton(tr("&Open a timeline…"));
  connect(button, &QPushButton::clicked, this, &MainWindow::choose_file);
  layout->addWidget(button, 0, Qt::AlignCenter);
  layout->addStretch(3);
  return page;
}

void MainWindow::make_docks() {
  const auto dock = [this](const QString& title, const char* id, QWidget* widget, Qt::DockWidgetArea area) {
    auto* const made = new QDockWidget(title, this);
    made->setObjectName(QString::fromLatin1(id));
    made->setWidget(widget);
    addDockWidget(area, made);
    return made;
  };
  auto* const details = dock(tr("Details"), "details", details_, Qt::BottomDockWidgetArea);
  auto* const numbers = dock(tr("Numbers"), "numbers", numbers_, Qt::BottomDockWidgetArea);
  splitDockWidget(details, numbers, Qt::Horizontal);
  resizeDocks({details}, {200}, Qt::Vertical);
  auto* const bar = addToolBar(tr("Search"));
  bar->setObjectName(QStringLiteral("search"));
  bar->setMovable(false);
  search_->setPlaceholderText(tr("Find spans: pack 3, receive, update gpu1 …  (Ctrl+F, Enter finds the next)"));
  search_->setAccessibleName(tr("Find spans"));
  filter_->setPlaceholderText(tr("Only rows with …  (Ctrl+L)"));
  filter_->setAccessibleName(tr("Filter rows"));
  filter_->setClearButtonEnabled(true);
  filter_->setMaximumWidth(260);
  bar->addWidget(search_);
  bar->addWidget(filter_);
}

void MainWindow::make_actions() {
  const QString file = tr("&File"), move = tr("&View"), select = tr("&Select"), rows = tr("&Rows"), help = tr("&Help");
  actions_.add(file, "open", tr("&Open…"), QStringLiteral("Ctrl+O"), [this] { choose_file(); });
  actions_.add(file, "export-picture", tr("Export &picture (PNG)…"), QStringLiteral("Ctrl+E"), [this] {
    export_picture(QFileDialog::getSaveFileName(this, tr("Export picture"), {}, tr("Pictures (*.png)")));
  });
  actions_.add(file, "export-numbers", tr("Export &numbers (CSV)…"), QStringLiteral("Ctrl+Shift+E"), [this] {
    export_numbers(QFileDialog::getSaveFileName(this, tr("Export numbers"), {}, tr("Tables (*.csv)")));
  });
  actions_.add(file, "quit", tr("&Quit"), QStringLiteral("Ctrl+Q"), [this] { close(); });

  TimelineView* const v = view_;
  actions_.add(move, "zoom-in", tr("Zoom &in"), QStringLiteral("W; +"), [v] { v->zoom_in(); });
  actions_.add(move, "zoom-out", tr("Zoom &out"), QStringLiteral("S; -"), [v] { v->zoom_out(); });
  actions_.add(move, "pan-left", tr("&Earlier"), QStringLiteral("A; Left"), [v] { v->pan_left(); });
  actions_.add(move, "pan-right", tr("&Later"), QStringLiteral("D; Right"), [v] { v->pan_right(); });
  actions_.add(move, "fit-selection", tr("&Fit the selection"), QStringLiteral("F"), [v] { v->fit_selection(); });
  actions_.add(move, "fit-all", tr("Fit &all"), QStringLiteral("Home"), [v] { v->fit_all(); });
  actions_.add(move, "back", tr("&Back to the last view"), QStringLiteral("Alt+Left"), [v] { v->back(); });
  actions_.add(move, "forward", tr("Forwar&d again"), QStringLiteral("Alt+Right"), [v] { v->forward(); });
  actions_.add(move, "dark", tr("Light or dar&k"), QStringLiteral("Ctrl+Shift+D"), [this] {
    set_dark(!dark_);
    QSettings().setValue(QStringLiteral("dark"), dark_);
  });

  actions_.add(select, "next", tr("&Next span of the row"), QStringLiteral("."), [v] { v->select_next(); });
  actions_.add(select, "previous", tr("&Previous span of the row"), QStringLiteral(","), [v] { v->select_previous(); });
  actions_.add(select, "clear", tr("Select no&thing"), QStringLiteral("Escape"), [v] {
    v->clear_selection();
    v->setFocus();
  });
  actions_.add(select, "path", tr("Critical pa&th alone in full colour"), QStringLiteral("P"),
               [v] { v->set_path_only(!v->path_only()); });
  actions_.add(select, "path-next", tr("Next on the critical path"), QStringLiteral("Shift+."),
               [v] { v->next_on_path(); });
  actions_.add(select, "path-previous", tr("Previous on the critical path"), QStringLiteral("Shift+,"),
               [v] { v->previous_on_path(); });
  actions_.add(select, "find", tr("&Find spans"), QStringLiteral("Ctrl+F; /"), [this] {
    search_->setFocus();
    search_->selectAll();
  });
  actions_.add(select, "find-next", tr("Find the next"), QStringLiteral("F3"), [this] { find(true); });
  actions_.add(select, "find-previous", tr("Find the previous"), QStringLiteral("Shift+F3"), [this] { find(false); });

  actions_.add(rows, "filter", tr("&Only rows with …"), QStringLiteral("Ctrl+L"), [this] { filter_->setFocus(); });
  actions_.add(rows, "open-all", tr("O&pen all groups"), QStringLiteral("Ctrl++"), [v] { v->open_all(); });
  actions_.add(rows, "close-all", tr("&Close all groups"), QStringLiteral("Ctrl+-"), [v] { v->close_all(); });
  actions_.add(rows, "pin", tr("P&in the row to the top, or let it go"), QStringLiteral("Ctrl+T"),
               [v] { v->pin_or_unpin(); });

  actions_.add(help, "palette", tr("&Commands…"), QStringLiteral("Ctrl+P"), [this] {
    auto* const palette = new CommandPalette(actions_, this);
    palette->setAttribute(Qt::WA_DeleteOnClose);
    palette->open();
  });
  actions_.add(help, "help", tr("&Keys and what the picture means"), QStringLiteral("?; F1"), [this] { show_help(); });

  for (const Actions::Group& group : actions_.groups()) {
    QMenu* const menu = menuBar()->addMenu(group.name);
    for (QAction* const action : group.actions) menu->addAction(action);
    if (group.name != file) continue;
    recent_ = new QMenu(tr("Open &recent"), menu);
    menu->insertMenu(actions_.find(QStringLiteral("export-picture")), recent_);
    connect(recent_, &QMenu::aboutToShow, this, &MainWindow::fill_recent);
  }
}

// --- opening ---

void MainWindow::choose_file() {
  const QString chosen =
      QFileDialog::getOpenFileName(this, tr("Open a timeline"), {}, tr("Timelines (*.tutti);;All files (*)"));
  if (!chosen.isEmpty()) open(chosen);
}

void MainWindow::stop_opening() {
  if (cancel_) *cancel_ = true;
  if (opening_.joinable()) opening_.join();
}

void MainWindow::open(const QString& path) {
  stop_opening();
  cancel_ = std::make_shared<std::atomic<bool>>(false);
  progress_->setRange(0, 1000);
  progress_->setValue(0);
  progress_->show();
  tell(tr("opening %1 …").arg(path));
  opening_ = std::jthread([this, path, cancel = cancel_] {
    OpenControl control;
    control.cancel = cancel.get();
    auto told = std::make_shared<std::atomic<int>>(0);
    control.progress = [this, told](double share) {
      const int now = static_cast<int>(share * 100);
      int before = told->load();
      if (now <= before || !told->compare_exchange_strong(before, now)) return;
      QMetaObject::invokeMethod(
          this, [this, now] { progress_->setValue(now * 10); }, Qt::QueuedConnection);
    };
    auto trace = Trace::open(path.toStdString(), control);
    if (*cancel) return;
    QMetaObject::invokeMethod(
        this,
        [this, path, cancel, trace] {
          if (*cancel) return;
          progress_->hide();
          if (trace) return show_trace(*trace, path);
          const QString why = QString::fromStdString(trace.error().message());
          tell(why);
          emit failed(why);
        },
        Qt::QueuedConnection);
  });
}

void MainWindow::show_trace(const std::shared_ptr<const Trace>& trace, const QString& path) {
  trace_ = trace;
  path_ = path;
  stack_->setCurrentIndex(1);
  overview_->show_trace(trace);
  view_->show_trace(trace);
  view_->setFocus();
  setWindowTitle(tr("%1 — Tutti").arg(QFileInfo(path).fileName()));
  tell(tr("%1 spans in %2 rows%3")
           .arg(trace->spans())
           .arg(trace->rows().size())
           .arg(trace->complete() ? QString() : tr("; the file ends before its index")));
  remember(path);
  update_details();
  emit opened();
}

void MainWindow::remember(const QString& path) {
  QSettings settings;
  QStringList paths = settings.value(QStringLiteral("recent")).toStringList();
  const QString whole = QFileInfo(path).absoluteFilePath();
  paths.removeAll(whole);
  paths.prepend(whole);
  settings.setValue(QStringLiteral("recent"), paths.mid(0, kMostRecent));
}

void MainWindow::fill_recent() {
  recent_->clear();
  for (const QString& path : QSettings().value(QStringLiteral("recent")).toStringList())
    recent_->addAction(path, this, [this, path] { open(path); });
  if (recent_->isEmpty()) recent_->addAction(tr("nothing yet"))->setEnabled(false);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls() && event->mimeData()->urls().front().isLocalFile()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) { open(event->mimeData()->urls().front().toLocalFile()); }

void MainWindow::closeEvent(QCloseEvent* event) {
  stop_opening();
  QSettings settings;
  settings.setValue(QStringLiteral("geometry"), saveGeometry());
  settings.setValue(QStringLiteral("docks"), saveState());
  event->accept();
}

// --- what is told ---

void MainWindow::tell(const QString& text) { statusBar()->showMessage(text); }
QString MainWindow::status_text() const { return statusBar()->currentMessage(); }

void MainWindow::set_dark(bool dark) {
  dark_ = dark;
  const Theme& theme = dark ? dark_theme() : light_theme();
  view_->set_theme(theme);
  overview_->set_theme(theme);
  QPalette colours;
  if (dark) {
    colours = QPalette(QColor(0x2b, 0x30, 0x37), QColor(0x22, 0x26, 0x2c));
    colours.setColor(QPalette::Base, QColor::fromRgb(theme.background));
    colours.setColor(QPalette::AlternateBase, QColor::fromRgb(theme.band));
    for (const QPalette::ColorRole role : {QPalette::Text, QPalette::WindowText, QPalette::ButtonText})
      colours.setColor(role, QColor::fromRgb(theme.text));
    colours.setColor(QPalette::PlaceholderText, QColor::fromRgb(theme.faint_text));
  }
  setPalette(colours);
}

void MainWindow::update_details() {
  details_->setRowCount(0);
  if (!trace_) return;
  Facts facts = facts_of_run(*trace_);
  if (const auto& selected = view_->selected()) {
    auto of_span = facts_of_span(*trace_, selected->row, selected->index);
    facts = of_span ? *of_span : Facts{{"problem", of_span.error().message()}};
  }
  details_->setRowCount(static_cast<int>(facts.size()));
  for (std::size_t i = 0; i < facts.size(); ++i) {
    set_row(*details_, static_cast<int>(i),
            {QString::fromStdString(facts[i].first), QString::fromStdString(facts[i].second)});
  }
  details_->resizeColumnToContents(0);
}

/// Of the range, else of what is in view, as long as that is quick.
void MainWindow::update_numbers() {
  numbers_->setRowCount(0);
  if (!trace_) return;
  constexpr std::int64_t kQuick = 2'000'000;
  if (!view_->range() && trace_->spans() > kQuick) return;
  const RangeStatistics all =
      statistics_of(*trace_, view_->visible_rows(), view_->range().value_or(view_->view().range()));
  numbers_->setRowCount(static_cast<int>(all.kinds.size()));
  for (std::size_t i = 0; i < all.kinds.size(); ++i) {
    const KindStatistics& k = all.kinds[i];
    set_row(*numbers_, static_cast<int>(i),
            {QString::fromStdString(core::span_name(k.kind)), QString::number(k.spans), text_of(k.sum),
             text_of(k.mean()), text_of(k.p50), text_of(k.p99), text_of(k.longest)});
  }
  numbers_->resizeColumnsToContents();
}

void MainWindow::update_cursor(qint64 picoseconds) {
  where_->setText(picoseconds < 0 ? QString() : QStringLiteral("%1 ms").arg(core::to_ms(Time(picoseconds)), 0, 'f', 6));
}

void MainWindow::find(bool forward) {
  if (!trace_) return;
  const Query query(search_->text().toStdString());
  if (query.empty()) return tell(tr("nothing to look for: type what, such as: pack 3"));
  std::optional<Found> found;
  if (const auto& selected = view_->selected()) {
    const Found from{selected->row, selected->index};
    found = forward ? find_next(*trace_, query, from) : find_previous(*trace_, query, from);
  } else {
    const TimeRange& seen = view_->view().range();
    found = forward ? find_next(*trace_, query, seen.from) : find_previous(*trace_, query, seen.to);
  }
  if (!found) return tell(tr("no span is “%1”").arg(search_->text()));
  view_->go_to({found->row, found->index});
  tell(tr("%1 spans are “%2”").arg(count_found(*trace_, query)).arg(search_->text()));
}

void MainWindow::export_picture(const QString& path) {
  if (path.isEmpty() || !trace_) return;
  tell(view_->picture(view_->size(), 2).save(path) ? tr("wrote %1").arg(path) : tr("%1 cannot be written").arg(path));
}

void MainWindow::export_numbers(const QString& path) {
  if (path.isEmpty() || !trace_) return;
  QSaveFile file(path);
  QString text = QStringLiteral("kind,count,sum_us,mean_us,p50_us,p99_us,longest_us\n");
  const RangeStatistics all =
      statistics_of(*trace_, view_->visible_rows(), view_->range().value_or(view_->view().range()));
  for (const KindStatistics& k : all.kinds) {
    text += QString::fromStdString(core::span_name(k.kind)) + QLatin1Char(',') + QString::number(k.spans);
    for (const Time t : {k.sum, k.mean(), k.p50, k.p99, k.longest})
      text += QLatin1Char(',') + QString::number(core::to_us(t), 'f', 6);
    text += QLatin1Char('\n');
  }
  const bool written = file.open(QIODevice::WriteOnly) && file.write(text.toUtf8()) >= 0 && file.commit();
  tell(written ? tr("wrote %1").arg(path) : tr("%1 cannot be written").arg(path));
}

void MainWindow::show_help() {
  auto* const dialog = new QDialog(this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(tr("Keys and what the picture means"));
  dialog->resize(640, 640);
  auto* const text = new QTextBrowser(dialog);
  QString html =
      tr("<p>A pixel that one span touches is drawn in full, however short the span is. A pixel that several touch has "
         "the "
         "colour of the longest and is filled to the share of the time that they cover. Of lanes, what sends fills the "
         "upper part of the row, what receives the lower, what does both all of it.</p>"
         "<p>Wheel scrolls, with Ctrl it zooms at the mouse, with Shift it moves in time. Dragging selects a range, "
         "with the middle button or Space it moves, with Alt it zooms. A double click fits a span.</p>");
  for (const Actions::Group& group : actions_.groups()) {
    html += QStringLiteral("<h3>%1</h3><table>").arg(QString(group.name).remove(QLatin1Char('&')));
    for (QAction* const action : group.actions) {
      QStringList keys;
      for (const QKeySequence& key : action->shortcuts())
        keys.append(key.toString(QKeySequence::NativeText).toHtmlEscaped());
      html += QStringLiteral("<tr><td width=\"200\"><b>%1</b></td><td>%2</td></tr>")
                  .arg(keys.join(QStringLiteral(", ")), action->text().remove(QLatin1Char('&')).toHtmlEscaped());
    }
    html += QStringLiteral("</table>");
  }
  html += QStringLiteral("<p>Tutti %1</p>").arg(QString::fromUtf8(core::version().data()));
  text->setHtml(html);
  auto* const layout = new QVBoxLayout(dialog);
  layout->addWidget(text);
  dialog->open();
}

}  // namespace tutti::gui
