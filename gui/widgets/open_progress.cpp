#include "gui/widgets/open_progress.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

namespace tutti::gui {

namespace {

/// Files that open faster than this, in ms, do not show the box, which would flicker.
constexpr int kAppearAfterMs = 150;
constexpr int kOpenWidth = 420;

}  // namespace

OpenProgress::OpenProgress(QWidget* parent)
    : QFrame(parent), text_(new QLabel), bar_(new QProgressBar) {
  setFrameShape(StyledPanel);
  setAutoFillBackground(true);
  setAccessibleName(tr("Opening"));
  text_->setTextFormat(Qt::PlainText);
  text_->setWordWrap(true);
  bar_->setAccessibleName(tr("Progress of opening"));
  auto* const cancel = new QPushButton(tr("Cancel (Esc)"));
  cancel->setFocusPolicy(Qt::NoFocus);  // the focus stays where it is when the box appears
  connect(cancel, &QPushButton::clicked, this, &OpenProgress::cancel_wanted);
  auto* const rows = new QVBoxLayout(this);
  rows->addWidget(text_);
  auto* const row = new QHBoxLayout;
  row->addWidget(bar_, 1);
  row->addWidget(cancel);
  rows->addLayout(row);
  appear_.setSingleShot(true);
  appear_.setInterval(kAppearAfterMs);
  connect(&appear_, &QTimer::timeout, this, &QWidget::show);
  parent->installEventFilter(this);
  hide();
}

void OpenProgress::begin(const QString& text) {
  text_->setText(text);
  setAccessibleDescription(text);
  bar_->setValue(0);
  if (!active_) qApp->installEventFilter(this);
  active_ = true;
  appear_.start();
}

void OpenProgress::set_percent(int percent) { bar_->setValue(percent); }

void OpenProgress::end() {
  appear_.stop();
  hide();
  if (active_) qApp->removeEventFilter(this);
  active_ = false;
}

QString OpenProgress::text() const { return text_->text(); }

/// While a file is being opened, Esc cancels opening, unless a menu or a dialog needs the key.
bool OpenProgress::eventFilter(QObject* watched, QEvent* event) {
  if (watched == parentWidget() && event->type() == QEvent::Resize) place();
  if (event->type() != QEvent::ShortcutOverride || !active_)
    return QFrame::eventFilter(watched, event);
  const auto* const key = static_cast<QKeyEvent*>(event);
  const bool elsewhere = QApplication::activePopupWidget() || QApplication::activeModalWidget();
  if (key->key() != Qt::Key_Escape || key->modifiers() != Qt::NoModifier || elsewhere) return false;
  event->accept();
  emit cancel_wanted();
  return true;
}

void OpenProgress::showEvent(QShowEvent* event) {
  place();
  raise();
  QFrame::showEvent(event);
}

void OpenProgress::place() {
  const QSize room = parentWidget()->size();
  const int wide = std::min(kOpenWidth, room.width());
  const int tall = std::max(sizeHint().height(), heightForWidth(wide));
  setGeometry((room.width() - wide) / 2, std::max(0, (room.height() - tall) / 3), wide, tall);
}

}  // namespace tutti::gui
