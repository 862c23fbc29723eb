#pragma once

#include <QFileSystemWatcher>
#include <QObject>
#include <QTimer>
#include <optional>

#include "gui/documents/file_stamp.h"

namespace tutti::gui {

/// Reports that a file has changed on disk, as soon as the file has not changed for a short time.
/// If another file of the same name replaces the file, this counts as a change; the removal of the
/// file does not count.
class FileWatch : public QObject {
  Q_OBJECT

 public:
  explicit FileWatch(QObject* parent = nullptr);

  /// Watches this file, in its current state, instead of the previous file. The file need not
  /// exist. Empty: watches none.
  void watch(const QString& path);
  /// Watches a file that had the stamp `known` when it was read. If the file has changed since
  /// then, changed() follows. nullopt means that the file did not exist.
  void watch(const QString& path, const std::optional<FileStamp>& known);
  [[nodiscard]] const QString& path() const { return path_; }

 signals:
  void changed(const QString& path);

 private:
  void look();

  QFileSystemWatcher watcher_;
  QTimer pause_;
  QString path_;
  std::optional<FileStamp> known_, seen_;
};

}  // namespace tutti::gui
