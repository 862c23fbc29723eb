#include "gui/widgets/last_session.h"

#include <sys/types.h>
#include <QFileInfo>
#include <QSettings>
#include <cerrno>
#include <csignal>

namespace tutti::gui {

QString LastSession::name() const {
  return QFileInfo(!timeline.isEmpty()   ? timeline
                   : !scenario.isEmpty() ? scenario
                                         : sweep)
      .fileName();
}

bool LastSession::was_interrupted() const {
  if (process <= 0 || empty()) return false;
  return ::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
}

LastSession LastSession::read() {
  QSettings settings;
  settings.beginGroup(QStringLiteral("session"));
  const auto file = [&](const char* key) {
    const QString path = settings.value(QLatin1String(key)).toString();
    return QFileInfo::exists(path) ? path : QString();
  };
  LastSession last;
  last.timeline = file("timeline");
  last.scenario = file("scenario");
  last.sweep = file("sweep");
  last.process = settings.value(QStringLiteral("process")).toLongLong();
  if (last.timeline.isEmpty()) return last;
  last.second = file("second");
  last.filter = settings.value(QStringLiteral("filter")).toString();
  const auto time = [&](const char* key) {
    return core::Time(settings.value(QLatin1String(key)).toLongLong());
  };
  last.moment = time("moment");
  if (time("from") < time("to")) last.range = TimeRange{time("from"), time("to")};
  return last;
}

void LastSession::write() const {
  QSettings settings;
  settings.remove(QStringLiteral("session"));
  settings.beginGroup(QStringLiteral("session"));
  const auto store = [&](const char* key, const QString& value) {
    if (!value.isEmpty()) settings.setValue(QLatin1String(key), value);
  };
  store("timeline", timeline);
  store("second", second);
  store("scenario", scenario);
  store("sweep", sweep);
  store("filter", filter);
  if (process > 0) settings.setValue(QStringLiteral("process"), process);
  const auto store_time = [&](const char* key, core::Time t) {
    settings.setValue(QLatin1String(key), static_cast<qlonglong>(t.count()));
  };
  store_time("moment", moment);
  if (!range) return;
  store_time("from", range->from);
  store_time("to", range->to);
}

}  // namespace tutti::gui
