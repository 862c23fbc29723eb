#include "gui/widgets/notice_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <utility>

namespace tutti::gui {

NoticeBar::NoticeBar(QWidget* parent)
    : QFrame(parent), text_(new QLabel), button_(new QPushButton), ignore_(new QPushButton) {
  setFrameShape(QFrame::StyledPanel);
  setAutoFillBackground(true);
  setBackgroundRole(QPalette::ToolTipBase);
  auto* const row = new QHBoxLayout(this);
  row->setContentsMargins(8, 3, 8, 3);
  text_->setWordWrap(true);
  text_->setTextFormat(Qt::PlainText);
  row->addWidget(text_, 1);
  row->addWidget(button_);
  row->addWidget(ignore_);
  connect(ignore_, &QPushButton::clicked, this, &QWidget::hide);
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
  button_->show();
  ignore_->setText(tr("&Ignore"));
  what_ = what;
  show();
}

void NoticeBar::report(const QString& text) {
  text_->setText(text);
  setAccessibleName(text);
  button_->hide();
  ignore_->setText(tr("Close"));
  what_ = {};
  show();
}

void NoticeBar::hide_report() {
  if (!what_) hide();
}

QString NoticeBar::text() const { return text_->text(); }

}  // namespace tutti::gui
