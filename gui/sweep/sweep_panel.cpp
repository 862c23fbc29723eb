// The panel controls three independent activities, each in its own thread: reading the file of a
// sweep and its changes, running a sweep, and simulating one point. The first two activities share
// only the file. A sweep that this panel has started is plotted from its file, like a sweep of
// another program. A stopped sweep therefore loses nothing and can be continued. One progress bar
// shows the progress of the sweep and of the point. The sweep has precedence.
//
// A point is simulated with the file contents that the sweep has read, even if the files have
// changed since then. The timeline therefore matches the point's result in the sweep. Curves are
// computed in sweep_curves.cpp, the plot is drawn by plot_painter.cpp, and the window shows the
// timelines.

#include "gui/sweep/sweep_panel.h"

#include <QBuffer>
#include <QDir>
#include <QEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QImage>
#include <QLabel>
#include <QPainter>
#include <QProgressBar>
#include <QSaveFile>
#include <QSvgGenerator>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "core/base/format.h"
#include "core/edit/overrides.h"
#include "gui/documents/examples.h"
#include "gui/sweep/plot_painter.h"
#include "gui/sweep/sweep_choices.h"
#include "gui/sweep/sweep_form.h"

namespace tutti::gui {

SweepPanel::SweepPanel(Executors executors, QWidget* parent)
    : QWidget(parent),
      executors_(std::move(executors)),
      theme_(&light_theme()),
      head_(new QLabel),
      form_(new SweepForm),
      choices_(new SweepChoices),
      plot_(new PlotView),
      bar_(new QWidget),
      progress_(new QProgressBar),
      words_(new QLabel),
      stop_(new QToolButton) {
  auto* const layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2);
  head_->setWordWrap(true);
  head_->setMargin(6);
  head_->setTextFormat(Qt::PlainText);
  head_->setAccessibleName(tr("The sweep"));
  auto* const bar = new QHBoxLayout(bar_);
  bar->setContentsMargins(6, 0, 6, 4);
  progress_->setRange(0, 1000);
  progress_->setTextVisible(false);
  progress_->setMaximumWidth(180);
  progress_->setAccessibleName(tr("Progress of the sweep"));
  words_->setWordWrap(true);
  words_->setTextFormat(Qt::PlainText);
  words_->setAccessibleName(tr("Progress of the sweep"));
  stop_->setText(QStringLiteral("■ ") + tr("Stop"));
  stop_->setAccessibleName(tr("Stop the sweep"));
  stop_->setToolTip(tr("Stop the sweep and keep its completed points (Ctrl+Shift+F5)"));
  bar->addWidget(progress_);
  bar->addWidget(words_, 1);
  bar->addWidget(stop_);
  layout->addWidget(form_);
  layout->addWidget(head_);
  layout->addWidget(choices_);
  layout->addWidget(plot_, 1);
  layout->addWidget(bar_);
  for (QWidget* const part : {static_cast<QWidget*>(form_), static_cast<QWidget*>(head_),
                              static_cast<QWidget*>(choices_), bar_})
    part->hide();
  plot_->show_words(
      tr("The result of each point of the sweep is drawn here when its simulation ends."));

  connect(choices_, &SweepChoices::changed, this, [this] { choose(choices_->choice()); });
  connect(plot_, &PlotView::wanted, this, &SweepPanel::open_point);
  connect(form_, &SweepForm::run_wanted, this, &SweepPanel::begin_sweep);
  connect(form_, &SweepForm::closed, this, [this] {
    form_->hide();
    plot_->setFocus();
  });
  connect(stop_, &QToolButton::clicked, this, &SweepPanel::stop);
  connect(&reader_, &SweepReader::read, this, &SweepPanel::take);
  connect(&reader_, &SweepReader::failed, this, [this](const QString& why) {
    // Keep the plot on the screen even if the sweep's file has been removed.
    opening_.clear();
    emit failed(why);
  });
  connect(&reader_, &SweepReader::joined, this, [this](const QStringList& wrong) {
    emit status_message(
        wrong.isEmpty() ? tr("the real runs were added to the plot and to the file of the sweep")
                        : wrong.join(QStringLiteral("; ")));
    emit joined(wrong);
  });
  connect(&run_, &SweepRun::begun, this, &SweepPanel::open);
  connect(&run_, &SweepRun::progress, this, [this](const QString& words, double share) {
    progress_->setValue(static_cast<int>(1000 * share));
    words_->setText(words);
  });
  connect(&run_, &SweepRun::ended, this, [this](const SweepRun::Result& result) {
    QString words = result.all ? QString()
                               : tr("the sweep was stopped; its completed points are kept, and "
                                    "starting the same sweep again continues it");
    if (result.error) words = QString::fromStdString(result.error->message());
    if (point_run_.running()) {
      show_running(true, tr("simulating this point …"));
    } else {
      show_running(false, words);
    }
    if (!words.isEmpty()) emit status_message(words);
    if (result.error) emit failed(words);
  });
  connect(&point_run_, &ScenarioRun::progress, this, [this](const QString& words, double share) {
    if (run_.running()) return;  // the bar shows the progress of the sweep
    progress_->setValue(static_cast<int>(1000 * share));
    words_->setText(tr("this point: %1").arg(words));
  });
  connect(&point_run_, &ScenarioRun::ended, this, &SweepPanel::show_point_result);
}

SweepPanel::~SweepPanel() { stop_and_wait(); }

void SweepPanel::stop_and_wait() {
  run_.stop_and_wait();
  point_run_.stop_and_wait();
  reader_.stop();
}

void SweepPanel::stop() {
  if (!running()) return emit status_message(tr("no sweep is running here"));
  words_->setText(tr("stopping …"));
  run_.stop();
  point_run_.stop();
}

bool SweepPanel::used() const { return data_ || !form_->isHidden(); }

QString SweepPanel::words() const { return words_->text(); }

bool SweepPanel::made(const QString& path) const {
  return QFileInfo(path).absolutePath() == QFileInfo(folder_.path()).absoluteFilePath();
}

// --- Reading and drawing the sweep ---

void SweepPanel::open(const QString& path) {
  opening_ = path;
  reader_.follow(path);
}

void SweepPanel::join(const QStringList& timelines) {
  if (!data_) return emit status_message(tr("open a sweep first (Ctrl+O)"));
  reader_.join(timelines);
}

void SweepPanel::choose_measured() {
  if (!data_) return emit status_message(tr("open a sweep first (Ctrl+O)"));
  const QStringList chosen =
      QFileDialog::getOpenFileNames(this, tr("Timelines of real runs of this sweep's points"), {},
                                    tr("Timelines (*.tutti);;All files (*)"));
  if (!chosen.isEmpty()) join(chosen);
}

void SweepPanel::take(const std::shared_ptr<const SweepData>& sweep) {
  const bool fresh = !opening_.isEmpty();
  // In draw(), settings of the plot that this sweep does not support get their defaults.
  data_ = sweep;
  opening_.clear();
  head_->show();
  choices_->show();
  draw();
  if (!fresh) return;
  emit shown();
  emit opened();
}

void SweepPanel::choose(const SweepChoice& choice) {
  choice_ = choice;
  if (data_) draw();
}

void SweepPanel::draw() {
  SweepCurves curves = curves_of(*data_, choice_);
  choices_->show_choice(*data_, curves, choice_);
  plot_->show_words(data_->rows.empty()
                        ? tr("No point has completed yet.")
                        : tr("None of these points could be simulated; the first error is:\n%1")
                              .arg(QString::fromStdString(data_->rows.front().outcome.message)));
  plot_->show_curves(data_, std::move(curves));
  show_head();
}

void SweepPanel::show_head() {
  const SweepCurves& curves = plot_->curves();
  const auto there = std::ssize(data_->rows);
  QString text = tr("%1: %2 of %3 points")
                     .arg(QFileInfo(QString::fromStdString(data_->path)).fileName(),
                          QString::fromStdString(core::show_count(there)),
                          QString::fromStdString(core::show_count(data_->space->size())));
  const auto refused = std::count_if(
      data_->rows.begin(), data_->rows.end(),
      [](const SweepData::Row& row) { return row.outcome.status != core::Outcome::Status::kDone; });
  if (refused > 0) text += tr(", %1 of which have no result").arg(refused);
  if (curves.best) {
    const CurvePoint& best = curves.at(*curves.best);
    QString settings = QString::fromStdString(data_->settings(best.point));
    text += tr(". Best: %1 with %2")
                .arg(QString::fromStdString(shown_cost(*curves.cost, best.value)),
                     settings.replace(QLatin1Char('\n'), QStringLiteral(", ")));
  }
  for (const std::string& said : data_->info.set)
    text += tr("; all with %1").arg(QString::fromStdString(said));
  if (curves.best) text += tr(". Click a point to open its run.");
  head_->setText(text);
}

void SweepPanel::set_theme(const Theme& theme) {
  theme_ = &theme;
  plot_->set_theme(theme);
}

void SweepPanel::changeEvent(QEvent* event) {
  if (event->type() == QEvent::FontChange && data_) draw();
  QWidget::changeEvent(event);
}

// --- Starting new sweeps ---

void SweepPanel::start_form(const std::string& text, const QString& path) {
  const QFileInfo scenario(path);
  const QString folder = path.isEmpty() ? QDir::homePath() : scenario.absolutePath();
  const QString stem = path.isEmpty() ? QStringLiteral("scenario") : scenario.completeBaseName();
  const bool writable = QFileInfo(folder).isWritable() &&
                        !is_example(path.toStdString(), executors_.library.folder());
  form_->show();
  form_->start(text, path.toStdString(), {},
               (writable ? QDir(folder) : QDir::home()).filePath(stem + QStringLiteral(".sweep")));
  emit shown();
}

void SweepPanel::start_form_again() {
  if (!data_) return;
  form_->show();
  std::vector<std::pair<QString, QString>> fields;
  for (const core::Axis& axis : data_->info.axes) {
    if (axis.fields.size() != 1) continue;  // a table, which only the command line can define
    QStringList values;
    for (const auto& row : axis.rows) values << QString::fromStdString(row.front());
    fields.emplace_back(QString::fromStdString(axis.fields.front()), values.join(QLatin1Char(',')));
  }
  if (!fields.empty()) form_->set_fields(fields);
  form_->start(data_->info.scenario_text, data_->info.scenario_file, data_->info.set,
               QString::fromStdString(data_->path));
  emit shown();
}

void SweepPanel::show_running(bool running, const QString& words) {
  bar_->setVisible(running || !words.isEmpty());
  progress_->setVisible(running);
  progress_->setValue(0);
  stop_->setVisible(running);
  words_->setText(words);
}

void SweepPanel::begin_sweep() {
  if (run_.running()) return emit status_message(tr("a sweep is running; Ctrl+Shift+F5 stops it"));
  if (!executors_.sweep) return emit status_message(tr("this window cannot run sweeps"));
  const auto order = form_->order();
  if (!order) return emit status_message(QString::fromStdString(order.error().message()));
  form_->hide();
  show_running(true, order->search ? tr("searching …") : tr("sweeping …"));
  emit status_message({});
  emit shown();
  run_.start(executors_.sweep, *order, executors_.library);
}

// --- runs of points ---

core::Expected<std::vector<core::Override>> SweepPanel::changes_of(std::int64_t point) const {
  std::vector<core::Override> changes;
  for (const std::string& said : data_->info.set) {
    auto change = core::parse_override("--set", said);
    if (!change) return tl::make_unexpected(change.error());
    changes.push_back(std::move(*change));
  }
  for (core::Override& change : data_->space->overrides(point))
    changes.push_back(std::move(change));
  return changes;
}

void SweepPanel::open_point(std::int64_t point) {
  if (!data_ || point < 0 || point >= data_->space->size()) return;
  const auto backend = std::find_if(executors_.backends.begin(), executors_.backends.end(),
                                    [](const Backend& one) { return one.id == "simulate"; });
  if (backend == executors_.backends.end())
    return emit status_message(tr("this window cannot simulate"));
  const auto changes = changes_of(point);
  if (!changes) return emit status_message(QString::fromStdString(changes.error().message()));
  // A click on a point stops the run of the previously clicked point.
  point_run_.stop_and_wait();
  point_ = point;
  if (run_.running()) {
    emit status_message(tr("simulating this point; the sweep continues"));
  } else {
    show_running(true, tr("simulating this point …"));
  }
  const QString stem = QFileInfo(QString::fromStdString(data_->path)).completeBaseName();
  QString timeline = folder_.filePath(QStringLiteral("%1 point %2.tutti").arg(stem).arg(point));
  for (int again = 2; QFileInfo::exists(timeline); ++again)
    timeline =
        folder_.filePath(QStringLiteral("%1 point %2 (%3).tutti").arg(stem).arg(point).arg(again));
  // Use the file contents that the sweep has read, even if files have changed since the start of
  // the sweep.
  point_run_.start({*backend, data_->info.scenario_text, data_->info.scenario_file,
                    core::Library(data_->files), timeline.toStdString(), *changes});
}

void SweepPanel::show_point_result(const ScenarioRun::Result& result) {
  QString words;
  if (result.error) words = QString::fromStdString(result.error->message());
  if (result.stopped && !result.error) words = tr("stopped");
  if (!run_.running()) show_running(false, words);
  if (!words.isEmpty()) emit status_message(words);
  if (result.timeline.isEmpty()) return emit failed(words);
  emit timeline_made(result.timeline);
}

void SweepPanel::want_scenario() {
  if (!data_ || !plot_->selected())
    return emit status_message(tr("select a point of a sweep first"));
  const auto changes = changes_of(plot_->curves().at(*plot_->selected()).point);
  const auto scenario = changes.and_then([&](const std::vector<core::Override>& all) {
    return core::read_scenario(data_->info.scenario_text, data_->info.scenario_file,
                               core::Library(data_->files), all);
  });
  if (!scenario) return emit status_message(QString::fromStdString(scenario.error().message()));
  emit scenario_wanted(scenario->text);
}

// --- files ---

QString SweepPanel::write_picture(const QString& path) const {
  if (!data_ || !plot_->curves().best)
    return tr("there is nothing to draw, because no point has completed");
  QBuffer buffer;
  const QSize size = plot_->size().expandedTo({640, 420});
  if (path.endsWith(QStringLiteral(".svg"), Qt::CaseInsensitive)) {
    QSvgGenerator svg;
    svg.setOutputDevice(&buffer);
    svg.setSize(size);
    svg.setViewBox(QRect(QPoint(), size));
    svg.setTitle(QString::fromStdString(plot_->curves().title));
    svg.setDescription(
        tr("A sweep, drawn by Tutti %1").arg(QString::fromStdString(data_->info.version)));
    QPainter painter(&svg);
    painter.setFont(font());
    paint_plot(painter, plot_->curves(), size, *theme_);
  } else {
    constexpr int kScale = 2;
    QImage image(size * kScale, QImage::Format_RGB32);
    image.setDevicePixelRatio(kScale);
    QPainter painter(&image);
    painter.setFont(font());
    paint_plot(painter, plot_->curves(), size, *theme_);
    painter.end();
    image.save(&buffer, "PNG");
  }
  QSaveFile file(path);
  if (file.open(QIODevice::WriteOnly) && file.write(buffer.data()) == buffer.data().size() &&
      file.commit())
    return {};
  return tr("%1 cannot be written: %2").arg(path, file.errorString());
}

QByteArray SweepPanel::csv() const {
  return data_ ? QByteArray::fromStdString(csv_of(plot_->curves(), *data_)) : QByteArray();
}

// --- what can be done ---

void SweepPanel::add_actions(Actions& actions) {
  const QString group = tr("S&weep");
  actions.add(group, "sweep-stop", tr("&Stop the sweep"), QStringLiteral("Ctrl+Shift+F5"),
              [this] { stop(); });
  actions.add(group, "open-measured", tr("Add &real runs (timelines) to the plot…"),
              QStringLiteral("Ctrl+Shift+R"), [this] { choose_measured(); });
  actions.add(group, "sweep-best", tr("Go to the &best point"), QStringLiteral("Ctrl+J"), [this] {
    plot_->select(plot_->curves().best);
    plot_->setFocus();
  });
  actions.add(group, "sweep-point", tr("&Open the run of the point (or Enter, or a click)"),
              QStringLiteral("Ctrl+Return"), [this] { plot_->open_selected(); });
  actions.add(group, "sweep-scenario", tr("Edit the point as a s&cenario"),
              QStringLiteral("Ctrl+Shift+Return"), [this] { want_scenario(); });
  actions.add(group, "sweep-x-scale", tr("x axis: automatic, &linear, logarithmic"),
              QStringLiteral("Alt+X"), [this] { choices_->next_x_scale(); });
  actions.add(group, "sweep-y-scale", tr("y axis: a&utomatic, linear, logarithmic"),
              QStringLiteral("Alt+Y"), [this] { choices_->next_y_scale(); });
}

}  // namespace tutti::gui
