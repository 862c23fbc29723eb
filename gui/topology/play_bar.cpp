#include "gui/topology/play_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

#include "core/base/format.h"
#include "gui/widgets/actions.h"
#include "gui/widgets/time_cursor.h"

namespace tutti::gui {

PlayBar::PlayBar(const TimeCursor& cursor, const Actions& actions)
    : cursor_(cursor), speed_(new QLabel) {
  auto* const layout = new QHBoxLayout(this);
  layout->setContentsMargins(4, 2, 4, 2);
  layout->setSpacing(2);
  const auto button = [&](const char* id, const QString& sign) {
    QAction* const action = actions.find(QString::fromLatin1(id));
    auto* const made = new QToolButton;
    made->setText(sign);
    made->setAutoRaise(true);
    QString name = action->text();
    name.remove(QLatin1Char('&'));
    made->setAccessibleName(name);
    made->setToolTip(
        QStringLiteral("%1 (%2)").arg(name, action->shortcut().toString(QKeySequence::NativeText)));
    connect(made, &QToolButton::clicked, action, &QAction::trigger);
    layout->addWidget(made);
    return made;
  };
  button("moment-start", QStringLiteral("|◀"));
  button("moment-previous", QStringLiteral("◂"));
  play_ = button("play", QStringLiteral("▶"));
  button("moment-next", QStringLiteral("▸"));
  button("slower", QStringLiteral("−"));
  button("faster", QStringLiteral("+"));
  speed_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);  // the panel may be narrow
  layout->addWidget(speed_, 1);
  connect(&cursor, &TimeCursor::playing_changed, this, &PlayBar::tell);
  tell();
}

QString PlayBar::text() const { return speed_->text(); }

void PlayBar::tell() {
  play_->setText(cursor_.playback().playing() ? QStringLiteral("❚❚") : QStringLiteral("▶"));
  speed_->setText(tr("%1/s").arg(QString::fromStdString(core::show(cursor_.per_second()))));
}

}  // namespace tutti::gui
