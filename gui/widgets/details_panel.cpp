#include "gui/widgets/details_panel.h"

#include <QHeaderView>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/trace/describe.h"
#include "gui/widgets/table.h"
#include "gui/widgets/timeline_view.h"

namespace tutti::gui {

DetailsPanel::DetailsPanel(const TimelineView& view)
    : view_(view), table_(make_table({tr("what"), tr("value")}, tr("Details"))) {
  auto* const layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(table_);
  // Wrap long values over several lines instead of cutting them off.
  table_->setWordWrap(true);
  table_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  table_->verticalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  connect(&view_, &TimelineView::selection_changed, this, &DetailsPanel::update_facts);
}

void DetailsPanel::update_facts() {
  table_->setRowCount(0);
  const Trace* const trace = view_.trace();
  if (!trace) return;
  Facts facts = facts_of_run(*trace);
  if (const auto& selected = view_.selected()) {
    auto of_span = facts_of_span(*trace, selected->row, selected->index);
    facts = of_span ? *of_span : Facts{{"problem", of_span.error().message()}};
  }
  table_->setRowCount(static_cast<int>(facts.size()));
  for (std::size_t i = 0; i < facts.size(); ++i) {
    set_row(*table_, static_cast<int>(i),
            {QString::fromStdString(facts[i].first), QString::fromStdString(facts[i].second)});
  }
  constexpr int kWidestName = 130;
  table_->resizeColumnToContents(0);
  table_->setColumnWidth(0, std::min(table_->columnWidth(0), kWidestName));
}

}  // namespace tutti::gui
