#include "gui/widgets/file_watch.h"

#include <QFileInfo>

namespace tutti::gui {

namespace {

/// The pause in ms before a change is reported, because a file changes many times while it is being
/// written.
constexpr int kPauseMs = 200;

}  // namespace

FileWatch::FileWatch(QObject* parent) : QObject(parent) {
  pause_.setSingleShot(true);
  pause_.setInterval(kPauseMs);
  // Do not restart the pause at every change, since other files of the directory may change
  // continuously.
  const auto wait = [this] {
    if (!pause_.isActive()) pause_.start();
  };
  connect(&watcher_, &QFileSystemWatcher::fileChanged, this, wait);
  // Also watch the directory: if another file replaces the watched file, Qt does not watch the new
  // file, but it notices the change of the directory.
  connect(&watcher_, &QFileSystemWatcher::directoryChanged, this, wait);
  connect(&pause_, &QTimer::timeout, this, &FileWatch::look);
}

void FileWatch::watch(const QString& path) {
  watch(path, path.isEmpty() ? std::nullopt : FileStamp::of(path.toStdString()));
}

void FileWatch::watch(const QString& path, const std::optional<FileStamp>& known) {
  pause_.stop();
  if (!watcher_.files().isEmpty()) watcher_.removePaths(watcher_.files());
  if (!watcher_.directories().isEmpty()) watcher_.removePaths(watcher_.directories());
  path_ = path;
  known_ = seen_ = known;
  if (path.isEmpty()) return;
  const QString directory = QFileInfo(path).absolutePath();
  if (QFileInfo(directory).isDir()) watcher_.addPath(directory);
  // If the file exists, this first call of look() begins to watch it, and notices whether the file
  // has changed since it was read.
  look();
}

void FileWatch::look() {
  const auto now = FileStamp::of(path_.toStdString());
  if (now && !watcher_.files().contains(path_)) watcher_.addPath(path_);
  if (!now || now == known_) return;
  if (now != seen_) {  // it may still be changing
    seen_ = now;
    return pause_.start();
  }
  known_ = now;
  emit changed(path_);
}

}  // namespace tutti::gui
