#pragma once

#include <QFileSystemWatcher>
#include <QObject>
#include <QTimer>
#include <optional>

#include "gui/documents/file_stamp.h"

namespace tutti::gui {

/// Reports that a file has changed on disk, once it has not changed any further for a moment. A
/// file that is replaced by another one of its name counts as changed; one that is removed does
/// not.
class FileWatch : public QObject {
  Q_OBJECT

 public:
  explicit FileWatch(QObject* parent = nullptr);

  /// Watches this file as it is now, instead of the previous one. The file need not exist. Empty:
  /// watches none.
  void watch(const QString& path);
  /// Watches a file that had the stamp `known` when it was read. If the file has changed since
  /// then, changed() follows. nullopt: the file did not exist.
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
