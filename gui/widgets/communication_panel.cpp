#include "gui/widgets/communication_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <utility>

#include "gui/widgets/timeline_view.h"

namespace tutti::gui {

namespace {

/// With more devices than this, a rank is a worker at first, since cells would be too small.
constexpr std::size_t kDevicesAtFirst = 64;

}  // namespace

CommunicationPanel::CommunicationPanel(TimelineView& view)
    : view_(view),
      quantity_(new QComboBox),
      side_(new QComboBox),
      by_worker_(new QCheckBox(tr("by worker"))),
      matrix_(new CommunicationView),
      words_(new QLabel) {
  quantity_->addItems({tr("bytes"), tr("time"), tr("bandwidth")});
  quantity_->setAccessibleName(tr("Quantity that the colours show"));
  side_->setAccessibleName(tr("Timeline whose messages are shown"));
  by_worker_->setToolTip(tr("Add up the devices of each worker"));
  words_->setObjectName(QStringLiteral("pair"));
  words_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  words_->setMinimumWidth(0);
  auto* const choices = new QHBoxLayout;
  choices->setSpacing(8);
  choices->setContentsMargins(4, 2, 4, 2);
  choices->addWidget(quantity_);
  choices->addWidget(side_);
  choices->addWidget(by_worker_);
  choices->addWidget(words_, 1);
  auto* const layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(choices);
  layout->addWidget(matrix_, 1);
  constexpr int kSettledAfterMs = 100;
  settled_.setSingleShot(true);
  settled_.setInterval(kSettledAfterMs);
  connect(&settled_, &QTimer::timeout, this, &CommunicationPanel::begin_to_compute);
  connect(quantity_, &QComboBox::currentIndexChanged, this,
          [this](int i) { matrix_->set_quantity(static_cast<MatrixQuantity>(i)); });
  connect(side_, &QComboBox::currentIndexChanged, this, &CommunicationPanel::update_matrix);
  connect(by_worker_, &QCheckBox::toggled, this, &CommunicationPanel::update_matrix);
  connect(matrix_, &CommunicationView::cell_chosen, this, &CommunicationPanel::show_chosen);
  connect(matrix_, &CommunicationView::cell_picked, this, &CommunicationPanel::pick);
  connect(&view_, &TimelineView::trace_changed, this, &CommunicationPanel::look_at_trace);
  connect(&view_, &TimelineView::view_changed, this, &CommunicationPanel::update_matrix);
  connect(&view_, &TimelineView::range_changed, this, &CommunicationPanel::update_matrix);
  look_at_trace();
}

void CommunicationPanel::set_seen(bool seen) {
  seen_ = seen;
  update_matrix();
}

void CommunicationPanel::set_theme(const Theme& theme) {
  matrix_->set_theme(theme);
  // The style derives the frame of the check box from the colour of the window, and in the dark
  // theme the frame would be invisible.
  QPalette colours = by_worker_->palette();
  colours.setColor(QPalette::Window, QColor::fromRgb(theme.faint_text));
  by_worker_->setPalette(colours);
}

void CommunicationPanel::look_at_trace() {
  const Trace* const trace = view_.trace();
  const bool two = trace && trace->sides().size() > 1;
  const QSignalBlocker no_signals(side_), nor_these(by_worker_);
  side_->clear();
  for (std::size_t s = 0; trace && s < trace->sides().size(); ++s)
    side_->addItem(QString::fromStdString(trace->sides()[s].name));
  side_->setVisible(two);
  by_worker_->setChecked(trace && devices_with_lanes(*trace, 0) > kDevicesAtFirst);
  matrix_->set_picked(std::nullopt);
  // Do not keep the old matrix, which shows ranks and messages of another timeline.
  matrix_->show_words(trace ? tr("computing…") : tr("no messages"));
  update_matrix();
}

CommunicationPanel::Wanted CommunicationPanel::wanted() const {
  return {view_.shared_trace(), view_.range().value_or(view_.view().range()),
          static_cast<std::size_t>(std::max(0, side_->currentIndex())), by_worker_->isChecked()};
}

void CommunicationPanel::update_matrix() {
  if (!seen_ || !view_.trace()) {
    settled_.stop();
    task_.drop_and_wait();
    shown_.reset();  // the reference would keep the timeline in memory
    return;
  }
  const Wanted now = wanted();
  if (shown_ == now) return;
  task_.drop();  // without waiting, so that the view can be moved smoothly
  // If the ranks are of another kind or timeline, the picked cell no longer exists.
  if (shown_ && (shown_->by_worker != now.by_worker || shown_->side != now.side))
    matrix_->set_picked(std::nullopt);
  shown_ = now;
  settled_.start();
}

/// Begins to compute the matrix of `shown_`.
void CommunicationPanel::begin_to_compute() {
  settled_.stop();
  ++begun_;
  task_.begin([now = *shown_](const std::atomic<bool>& stop) {
    return communication_of(*now.trace, now.range, {now.side, now.by_worker, &stop});
  });
}

void CommunicationPanel::finish() {
  if (settled_.isActive()) begin_to_compute();
  task_.finish();
}

void CommunicationPanel::show_result(core::Expected<CommunicationMatrix> result) {
  if (!result) return matrix_->show_words(QString::fromStdString(result.error().message()));
  if (!result->pairs.empty()) return matrix_->show_matrix(std::move(*result));
  matrix_->show_words(
      result->ranks.empty()
          ? tr("this timeline records no lanes, so the messages between ranks are unknown")
          : tr("the lanes of this timeline record no messages in this range"));
}

void CommunicationPanel::show_chosen() {
  const auto& cell = matrix_->chosen();
  words_->setText(cell ? matrix_->words_of(*cell)
                       : tr("Click on a pair to show only the rows of both ranks."));
}

void CommunicationPanel::pick(const CommunicationView::Cell& cell) {
  if (matrix_->picked() == cell) {
    matrix_->set_picked(std::nullopt);
    filter_.clear();
    return emit filter_wanted({});
  }
  matrix_->set_picked(cell);
  const auto& ranks = matrix_->matrix().ranks;
  const QString first = QString::fromStdString(ranks[cell.first].key),
                second = QString::fromStdString(ranks[cell.second].key);
  filter_ = first == second ? first : first + QStringLiteral(" | ") + second;
  emit filter_wanted(filter_);
}

void CommunicationPanel::follow_filter(const QString& text) {
  if (matrix_->picked() && text != filter_) matrix_->set_picked(std::nullopt);
}

}  // namespace tutti::gui
