#pragma once

#include <QFileSystemWatcher>
#include <QObject>
#include <QTimer>
#include <optional>

#include "gui/documents/file_stamp.h"

namespace tutti::gui {

/// Reports that a file has changed on disk. The report comes a short time after the last change. If
/// another file of the same name replaces the file, this counts as a change; the removal of the
/// file does not count.
class FileWatch : public QObject {
  Q_OBJECT

 public:
  explicit FileWatch(QObject* parent = nullptr);

  /// Stops watching the previous file, and watches this file instead. Reports changes that happen
  /// after this call. The file need not exist. If `path` is empty, no file is watched.
  void watch(const QString& path);
  /// Like the function above, but for a file that has been read before the call, and that had the
  /// stamp `known` at that time (nullopt: it did not exist). If the file has changed since then,
  /// changed() is emitted.
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
