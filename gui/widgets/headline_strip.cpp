#include "gui/widgets/headline_strip.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QResizeEvent>

namespace tutti::gui {

HeadlineStrip::HeadlineStrip(QWidget* parent) : QWidget(parent), row_(new QHBoxLayout(this)) {
  row_->setContentsMargins(8, 2, 8, 2);
  row_->setSpacing(18);
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  setAccessibleName(tr("Headline"));
  hide();
}

void HeadlineStrip::show_trace(const std::shared_ptr<const Trace>& trace,
                               const std::optional<HeadlineFigure>& against) {
  while (QLayoutItem* const item = row_->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  auto figures = trace ? headline_of(*trace) : std::vector<HeadlineFigure>();
  if (against) figures.insert(figures.begin() + (figures.empty() ? 0 : 1), *against);
  for (const HeadlineFigure& figure : figures) {
    const auto html = [](const std::string& text) {
      return QString::fromStdString(text).toHtmlEscaped();
    };
    auto* const label =
        new QLabel(QStringLiteral("%1 <b>%2</b> %3")
                       .arg(html(figure.name), html(figure.value), html(figure.remark)));
    label->setToolTip(QString::fromStdString(figure.detail));
    label->setAccessibleName(
        QString::fromStdString(figure.name + " " + figure.value + " " + figure.remark));
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    row_->addWidget(label);
  }
  row_->addStretch(1);
  setVisible(!figures.empty());
  fit();
}

/// Hides the last figures if there is not enough space for all figures.
void HeadlineStrip::fit() {
  int x = row_->contentsMargins().left();
  for (int i = 0; i < row_->count(); ++i) {
    QWidget* const label = row_->itemAt(i)->widget();
    if (!label) continue;
    x += label->sizeHint().width();
    label->setVisible(x <= width() - row_->contentsMargins().right());
    x += row_->spacing();
  }
}

void HeadlineStrip::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fit();
}

QString HeadlineStrip::text() const {
  QStringList texts;
  for (int i = 0; i < row_->count(); ++i) {
    if (QWidget* const label = row_->itemAt(i)->widget()) texts << label->accessibleName();
  }
  return texts.join(QStringLiteral("; "));
}

}  // namespace tutti::gui
