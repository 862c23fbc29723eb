#include "gui/widgets/numbers_panel.h"

#include <QVBoxLayout>
#include <algorithm>

#include "core/base/format.h"
#include "gui/widgets/table.h"
#include "gui/widgets/timeline_view.h"

namespace tutti::gui {

using core::Time;

namespace {

/// Of more spans than this the numbers of all that is in view would hold up a gesture.
constexpr std::int64_t kQuick = 2'000'000;

QString text_of(Time t) { return QString::fromStdString(core::show(t)); }

}  // namespace

NumbersPanel::NumbersPanel(const TimelineView& view)
    : view_(view),
      table_(make_table({tr("kind"), tr("count"), tr("sum"), tr("mean"), tr("p50"), tr("p99"), tr("longest")},
                        tr("Numbers of the range"))) {
  auto* const layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(table_);
  connect(&view_, &TimelineView::view_changed, this, &NumbersPanel::update_numbers);
  connect(&view_, &TimelineView::range_changed, this, &NumbersPanel::update_numbers);
}

RangeStatistics NumbersPanel::numbers() const {
  return statistics_of(*view_.trace(), view_.visible_rows(), view_.range().value_or(view_.view().range()));
}

void NumbersPanel::update_numbers() {
  table_->setRowCount(0);
  if (!view_.trace() || (!view_.range() && view_.trace()->spans() > kQuick)) return;
  const RangeStatistics all = numbers();
  table_->setRowCount(static_cast<int>(all.kinds.size()));
  for (std::size_t i = 0; i < all.kinds.size(); ++i) {
    const KindStatistics& k = all.kinds[i];
    set_row(*table_, static_cast<int>(i),
            {name_of(k), QString::number(k.spans), text_of(k.sum), text_of(k.mean()), text_of(k.p50), text_of(k.p99),
             text_of(k.longest)});
  }
  table_->resizeColumnsToContents();
}

/// And which of two timelines it is of.
QString NumbersPanel::name_of(const KindStatistics& k) const {
  const QString kind = QString::fromStdString(core::span_name(k.kind));
  const auto& sides = view_.trace()->sides();
  return sides.size() < 2 ? kind : tr("%1, %2").arg(kind, QString::fromStdString(sides[k.side].name));
}

QString NumbersPanel::csv() const {
  const auto& sides = view_.trace()->sides();
  const auto quoted = [](std::string name) {
    std::replace(name.begin(), name.end(), '"', '\'');
    return QLatin1Char('"') + QString::fromStdString(name) + QLatin1String("\",");
  };
  QString text = sides.size() < 2 ? QString() : QStringLiteral("timeline,");
  text += QStringLiteral("kind,count,sum_us,mean_us,p50_us,p99_us,longest_us\n");
  for (const KindStatistics& k : numbers().kinds) {
    if (sides.size() > 1) text += quoted(sides[k.side].name);
    text += QString::fromStdString(core::span_name(k.kind)) + QLatin1Char(',') + QString::number(k.spans);
    for (const Time t : {k.sum, k.mean(), k.p50, k.p99, k.longest})
      text += QLatin1Char(',') + QString::number(core::to_us(t), 'f', 6);
    text += QLatin1Char('\n');
  }
  return text;
}

}  // namespace tutti::gui
