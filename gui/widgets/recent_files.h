#pragma once

#include <QStringList>

namespace tutti::gui {

/// Returns the files that were opened last, in this and earlier sessions, newest first.
QStringList recent_files();
void remember_file(const QString& path);

}  // namespace tutti::gui
