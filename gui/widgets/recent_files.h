#pragma once

#include <QStringList>

namespace tutti::gui {

/// Files opened last, over runs of the program: the newest first.
QStringList recent_files();
void remember_file(const QString& path);

}  // namespace tutti::gui
