// A recovery file is JSON with the text of a scenario, the path of its file, and the file's
// modification time. The name of a recovery file consists of the scenario's name and a random part,
// so that no two editors use the same file. The file NAME.lock next to the recovery file is locked
// while the editor is open.

#include "gui/editor/recovery.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLockFile>
#include <QSaveFile>
#include <QUuid>
#include <utility>

namespace tutti::gui {

namespace {

constexpr auto kEnding = ".recovery.json";

/// Returns a string that identifies the file, and is the same for all paths that lead to the file.
QString identity(const QString& path) {
  const QFileInfo file(path);
  return file.exists() ? file.canonicalFilePath() : file.absoluteFilePath();
}

/// Locks a recovery file; returns null if a running editor has locked it.
std::unique_ptr<QLockFile> lock_of(const QString& file) {
  auto lock = std::make_unique<QLockFile>(file + QStringLiteral(".lock"));
  lock->setStaleLockTime(0);  // locks never expire, since a window may be open for days
  return lock->tryLock(0) ? std::move(lock) : nullptr;
}

QByteArray to_json(const UnsavedText& unsaved) {
  QJsonObject object;
  object[QStringLiteral("path")] = unsaved.path.isEmpty() ? QString() : identity(unsaved.path);
  // Store the numbers as strings, because JSON parsers may round large numbers.
  if (unsaved.file_stamp) {
    object[QStringLiteral("file_written")] =
        QString::number(unsaved.file_stamp->written.time_since_epoch().count());
    object[QStringLiteral("file_size")] = QString::number(unsaved.file_stamp->size);
  }
  object[QStringLiteral("byte_order_mark")] = unsaved.byte_order_mark;
  object[QStringLiteral("crlf")] = unsaved.crlf;
  object[QStringLiteral("text")] = QString::fromStdString(unsaved.text);
  return QJsonDocument(object).toJson();
}

std::optional<UnsavedText> from_json(const QByteArray& bytes) {
  const QJsonObject object = QJsonDocument::fromJson(bytes).object();
  const QJsonValue text = object[QStringLiteral("text")];
  if (!text.isString()) return std::nullopt;
  UnsavedText unsaved;
  unsaved.path = object[QStringLiteral("path")].toString();
  // If the stored time or size is missing (earlier versions wrote a date), the scenario's file
  // counts as changed.
  using FileTime = std::filesystem::file_time_type;
  bool has_time = false, has_size = false;
  const qlonglong time = object[QStringLiteral("file_written")].toString().toLongLong(&has_time);
  const qulonglong size = object[QStringLiteral("file_size")].toString().toULongLong(&has_size);
  if (has_time && has_size)
    unsaved.file_stamp = FileStamp{FileTime(FileTime::duration(time)), size};
  unsaved.byte_order_mark = object[QStringLiteral("byte_order_mark")].toBool();
  unsaved.crlf = object[QStringLiteral("crlf")].toBool();
  unsaved.text = text.toString().toStdString();
  return unsaved;
}

}  // namespace

RecoveryFile::RecoveryFile(QString folder) : folder_(std::move(folder)) {}
RecoveryFile::~RecoveryFile() = default;

core::Expected<void> RecoveryFile::keep(const UnsavedText& unsaved) {
  if (folder_.isEmpty()) return {};
  const auto fail = [](const QString& what, const QString& why) {
    return tl::make_unexpected(core::Error::run((what + QStringLiteral(": ") + why).toStdString()));
  };
  if (file_.isEmpty()) {
    if (!QDir().mkpath(folder_))
      return fail(folder_, QStringLiteral("the folder cannot be created"));
    // Other users must not be able to read unsaved text.
    QFile::setPermissions(folder_,
                          QFileDevice::ReadOwner | QFileDevice::WriteOwner | QFileDevice::ExeOwner);
    const QString name = unsaved.path.isEmpty() ? QStringLiteral("untitled")
                                                : QFileInfo(unsaved.path).completeBaseName();
    const QString random = QUuid::createUuid().toString(QUuid::Id128).left(12);
    const QString file =
        QDir(folder_).filePath(name.left(100) + QLatin1Char('-') + random + QLatin1String(kEnding));
    lock_ = lock_of(file);
    if (!lock_) return fail(file, QStringLiteral("the file cannot be locked"));
    file_ = file;
  }
  QSaveFile file(file_);
  const QByteArray bytes = to_json(unsaved);
  if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit())
    return fail(file_, file.errorString());
  return {};
}

void RecoveryFile::remove() {
  if (file_.isEmpty()) return;
  QFile::remove(file_);
  file_.clear();
  lock_.reset();
}

LeftBehind::LeftBehind(QString file, QDateTime kept, UnsavedText unsaved,
                       std::unique_ptr<QLockFile> lock)
    : file_(std::move(file)),
      kept_(std::move(kept)),
      unsaved_(std::move(unsaved)),
      lock_(std::move(lock)) {}
LeftBehind::LeftBehind(LeftBehind&&) noexcept = default;
LeftBehind& LeftBehind::operator=(LeftBehind&&) noexcept = default;
LeftBehind::~LeftBehind() = default;

void LeftBehind::discard() { QFile::remove(file_); }

std::vector<LeftBehind> left_behind(const QString& folder, const std::optional<QString>& path) {
  std::vector<LeftBehind> found;
  if (folder.isEmpty()) return found;
  const QStringList names{QLatin1Char('*') + QLatin1String(kEnding)};
  for (const QFileInfo& entry : QDir(folder).entryInfoList(names, QDir::Files, QDir::Time)) {
    std::unique_ptr<QLockFile> lock = lock_of(entry.absoluteFilePath());
    if (!lock) continue;
    QFile file(entry.absoluteFilePath());
    if (!file.open(QIODevice::ReadOnly)) continue;
    auto unsaved = from_json(file.readAll());
    if (!unsaved || (path && unsaved->path != identity(*path))) continue;
    found.emplace_back(entry.absoluteFilePath(), entry.lastModified(), std::move(*unsaved),
                       std::move(lock));
  }
  return found;
}

}  // namespace tutti::gui
