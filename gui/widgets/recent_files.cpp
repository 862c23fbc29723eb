#include "gui/widgets/recent_files.h"

#include <QFileInfo>
#include <QSettings>

namespace tutti::gui {

namespace {

constexpr int kMax = 10;
constexpr auto kKey = "recent";

}  // namespace

QStringList recent_files() { return QSettings().value(QLatin1String(kKey)).toStringList(); }

void remember_file(const QString& path) {
  QStringList paths = recent_files();
  const QString whole = QFileInfo(path).absoluteFilePath();
  paths.removeAll(whole);
  paths.prepend(whole);
  QSettings().setValue(QLatin1String(kKey), paths.mid(0, kMax));
}

void forget_file(const QString& path) {
  QStringList paths = recent_files();
  if (paths.removeAll(QFileInfo(path).absoluteFilePath()) > 0)
    QSettings().setValue(QLatin1String(kKey), paths);
}

}  // namespace tutti::gui
