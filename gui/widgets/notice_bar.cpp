#include "gui/widgets/notice_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <utility>

namespace tutti::gui {

NoticeBar::NoticeBar(QWidget* parent)
    : QFrame(parent), text_(new QLabel), button_(new QPushButton) {
  setFrameShape(QFrame::StyledPanel);
  setAutoFillBackground(true);
  setBackgroundRole(QPalette::ToolTipBase);
  auto* const row = new QHBoxLayout(this);
  row->setContentsMargins(8, 3, 8, 3);
  auto* const ignore = new QPushButton(tr("&Ignore"));
  text_->setWordWrap(true);
  text_->setTextFormat(Qt::PlainText);
  row->addWidget(text_, 1);
  row->addWidget(button_);
  row->addWidget(ignore);
  connect(ignore, &QPushButton::clicked, this, &QWidget::hide);
  connect(button_, &QPushButton::clicked, this, [this] {
    hide();
    if (const auto what = what_) what();
  });
  hide();
}

void NoticeBar::offer(const QString& text, const QString& button,
                      const std::function<void()>& what) {
  text_->setText(text);
  setAccessibleName(text);
  button_->setText(button);
  what_ = what;
  show();
}

QString NoticeBar::text() const { return text_->text(); }

}  // namespace tutti::gui
