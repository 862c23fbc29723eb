// The panel connects four independent parts: the timeline, the time cursor, the reader of messages,
// and the picture of the cluster. Two functions do the work. The function begin() creates a new
// topology and a new TopologyPlayer when the timeline or the reader's result has changed. The
// function show_moment() gets the state at the time of the cursor from the player. While the panel
// is hidden, the state is not computed and moment_is_old_ is set. The function showEvent() then
// computes the state. If two timelines are on one axis, the panel shows one of them. The panel
// first converts the cursor's time and the links' records to the shown timeline (own_trace(),
// own_moment()). The file topology_view.cpp draws the picture, and gui/traffic computes its
// content.

#include "gui/topology/topology_panel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>
#include <algorithm>

#include "core/base/format.h"
#include "gui/topology/holding_bar.h"
#include "gui/topology/play_bar.h"
#include "gui/topology/topology_legend.h"
#include "gui/topology/topology_view.h"
#include "gui/topology/traffic_reader.h"
#include "gui/widgets/actions.h"
#include "gui/widgets/time_cursor.h"
#include "gui/widgets/timeline_view.h"

namespace tutti::gui {

TopologyPanel::TopologyPanel(TimelineView& view, TimeCursor& cursor, TrafficReader& reader)
    : view_(view),
      cursor_(cursor),
      reader_(reader),
      topology_view_(new TopologyView),
      legend_(new TopologyLegend),
      holding_(new HoldingBar),
      top_(new QHBoxLayout),
      sides_(new QComboBox),
      packs_(new QComboBox),
      words_(new QLabel) {
  packs_->setObjectName(QStringLiteral("packs"));
  packs_->setAccessibleName(tr("Selects the pack in flight whose chunks are shown"));
  packs_->setToolTip(tr("Packs in flight at the time cursor; select one to show its chunks"));
  packs_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  packs_->setMinimumContentsLength(8);
  packs_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  words_->setWordWrap(true);
  words_->setMargin(4);
  words_->setAlignment(Qt::AlignTop);
  words_->setMinimumHeight(3 * words_->fontMetrics().lineSpacing() + 8);
  words_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  top_->setContentsMargins(4, 0, 4, 2);
  sides_->setAccessibleName(tr("Selects which of the two timelines is shown"));
  sides_->setToolTip(tr("Selects which of the two timelines is shown here (Shift+T)"));
  sides_->hide();
  top_->addWidget(sides_);
  top_->addWidget(packs_);
  auto* const layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(top_);
  layout->addWidget(topology_view_, 1);
  layout->addWidget(legend_);
  layout->addWidget(holding_);
  layout->addWidget(words_);
  view.add_overlay(*this);
  connect(&view, &TimelineView::trace_changed, this, &TopologyPanel::begin);
  connect(&view, &TimelineView::link_chosen, this, &TopologyPanel::link_clicked);
  connect(&reader, &TrafficReader::ready, this, &TopologyPanel::begin);
  connect(&cursor, &TimeCursor::moment_changed, this, &TopologyPanel::show_moment);
  connect(topology_view_, &TopologyView::current_node_changed, this, &TopologyPanel::tell);
  connect(topology_view_, &TopologyView::link_chosen, this, &TopologyPanel::link_chosen);
  connect(sides_, &QComboBox::activated, this,
          [this](int side) { show_side(static_cast<std::size_t>(side)); });
  connect(packs_, &QComboBox::activated, this, [this](int index) {
    if (index >= 0 && static_cast<std::size_t>(index) < listed_.size()) look_at(listed_[index]);
  });
}

void TopologyPanel::add_actions(Actions& actions) {
  cursor_.add_actions(actions);
  actions.add(tr("&Play"), "topology-side", tr("Topology of the &other timeline"),
              QStringLiteral("Shift+T"), [this] { show_side(1 - side_); });
  // The bar is above the lists, because next to them it would make the panel wide.
  static_cast<QVBoxLayout*>(layout())->insertWidget(0, new PlayBar(cursor_, actions));
}

void TopologyPanel::set_theme(const Theme& theme) {
  topology_view_->set_theme(theme);
  legend_->set_theme(theme);
  holding_->set_theme(theme);
}

QString TopologyPanel::words() const { return words_->text(); }

bool TopologyPanel::select_device(const QString& name) {
  for (std::size_t n = 0; topology_ && n < topology_->nodes().size(); ++n) {
    if (topology_->nodes()[n].full_name() != name.toStdString()) continue;
    topology_view_->select_node(n);
    return true;
  }
  return false;
}

void TopologyPanel::look_at(std::optional<PackOfStep> pack) {
  wanted_ = pack;
  show_moment();
}

std::shared_ptr<const Trace> TopologyPanel::own_trace() const {
  const std::shared_ptr<const Trace> trace = view_.shared_trace();
  return trace && trace->parts() ? trace->parts()->source(side_) : trace;
}

core::Time TopologyPanel::own_moment() const {
  const Trace* const trace = view_.trace();
  return trace && trace->parts() ? trace->parts()->own(side_, cursor_.moment()) : cursor_.moment();
}

void TopologyPanel::show_side(std::size_t side) {
  if (!view_.trace() || !view_.trace()->parts() || side == side_) return;
  side_ = side;
  begin();
}

void TopologyPanel::fill_sides() {
  const Trace* const trace = view_.trace();
  const bool two = trace && trace->parts();
  sides_->setVisible(two);
  if (!two) side_ = 0;
  sides_->clear();
  for (std::size_t s = 0; two && s < trace->sides().size(); ++s)
    sides_->addItem(QString::fromStdString(trace->sides()[s].name));
  sides_->setCurrentIndex(static_cast<int>(side_));
}

/// Resets the panel for a new timeline. If there are two timelines, each timeline is read when the
/// panel shows it for the first time.
void TopologyPanel::begin() {
  player_.reset();
  topology_.reset();
  wanted_.reset();
  fill_sides();
  if (isVisible()) reader_.read_side(side_);
  const std::shared_ptr<const Trace> trace = own_trace();
  const bool read = !view_.trace() || !view_.trace()->parts() || isVisible();
  if (trace && read && !reader_.busy()) {
    topology_ = std::make_shared<const Topology>(
        Topology::of(*trace, reader_.plan().get(), reader_.traffic().get()));
    if (reader_.traffic())
      player_ =
          std::make_unique<TopologyPlayer>(trace, reader_.plan(), reader_.traffic(), *topology_);
  }
  topology_view_->show_topology(topology_);
  legend_->set_links_known(!topology_ || topology_->has_links());
  show_moment();
}

void TopologyPanel::showEvent(QShowEvent*) {
  if (view_.trace() && view_.trace()->parts() && !topology_) begin();
  if (moment_is_old_) show_moment();
}

/// Shows the current time. While the panel is hidden, it computes nothing.
void TopologyPanel::show_moment() {
  moment_is_old_ = !isVisible();
  if (moment_is_old_) return;
  if (player_) topology_view_->show_moment(player_->at(own_moment(), wanted_));
  fill_packs();
  tell();
}

void TopologyPanel::fill_packs() {
  const TopologyMoment& moment = topology_view_->moment();
  if (listed_ != moment.in_flight || packs_->count() == 0) {
    listed_ = moment.in_flight;
    packs_->clear();
    for (const PackOfStep& pack : listed_)
      packs_->addItem(tr("pack %1, step %2").arg(pack.pack).arg(pack.step));
    if (listed_.empty()) packs_->addItem(tr("no pack"));
  }
  packs_->setEnabled(!listed_.empty());
  const auto here =
      moment.pack ? std::find(listed_.begin(), listed_.end(), *moment.pack) : listed_.end();
  packs_->setCurrentIndex(here == listed_.end() ? 0 : static_cast<int>(here - listed_.begin()));
}

void TopologyPanel::tell() {
  const TopologyMoment& moment = topology_view_->moment();
  const auto node = topology_view_->current_node();
  QStringList words;
  if (!view_.trace()) {
    words << tr("No timeline is open.");
  } else if (reader_.busy()) {
    words << tr("Reading the messages …");
  } else if (node && player_) {
    words << QString::fromStdString(player_->words_of(moment, *node));
  } else if (player_) {
    words << (moment.pack ? tr("%1 in flight, %2 messages in flight. Point at a device, or select "
                               "it with the arrow keys, to see its contents.")
                                .arg(moment.in_flight.size() == 1
                                         ? tr("1 pack")
                                         : tr("%1 packs").arg(moment.in_flight.size()))
                                .arg(moment.flights.size())
                          : tr("No pack is in flight at the time cursor."));
  }
  if (view_.trace() && view_.trace()->parts())
    words << tr("The topology shows %1 at time %2 of its run.")
                 .arg(sides_->currentText(), QString::fromStdString(core::show(own_moment())));
  if (!moment.words.empty()) words << QString::fromStdString(moment.words);
  if (topology_ && !topology_->words().empty()) words << QString::fromStdString(topology_->words());
  if (!reader_.busy() && view_.trace()) words << QString::fromStdString(reader_.problem());
  words_->setText(words.join(QLatin1Char(' ')));
  holding_->show_held(
      node && *node < moment.held.size() ? moment.held[*node] : std::vector<PackReplay::Piece>(),
      moment);
}

void TopologyPanel::link_chosen(std::size_t link) {
  const auto record = topology_->links()[link].record;
  if (record)
    view_.go_to_line(QString::fromStdString(view_.layout_of_lines().key_of_link(side_, *record)));
  view_.update();
}

void TopologyPanel::link_clicked(std::size_t side, std::size_t record) {
  if (!topology_ || side != side_) return;
  topology_view_->select_link(topology_->link_of_record(record));
  view_.update();
}

void TopologyPanel::paint(QPainter& painter, const Placement& place) const {
  const auto link = topology_view_->selected_link();
  if (!topology_ || !link || !topology_->links()[*link].record) return;
  for (std::size_t i = 0; i < place.scene.layout.lines().size(); ++i) {
    const Line& line = place.scene.layout.lines()[i];
    if (line.kind != Line::Kind::kLink || line.side != side_ ||
        line.number != *topology_->links()[*link].record)
      continue;
    painter.setClipRect(place.lines);
    painter.setPen(QPen(QColor::fromRgb(place.scene.theme.selection), 2));
    painter.drawRect(QRect(place.lines.left() + 1,
                           place.lines.top() + top_of_line(place.scene, i) + 1,
                           place.lines.width() - 3, line.height - 3));
  }
}

}  // namespace tutti::gui
