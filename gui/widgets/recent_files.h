#pragma once

#include <QStringList>

namespace tutti::gui {

/// Returns the most recently opened files of this and earlier sessions, newest first.
QStringList recent_files();
void remember_file(const QString& path);
void forget_file(const QString& path);

}  // namespace tutti::gui
