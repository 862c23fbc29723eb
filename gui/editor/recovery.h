#pragma once

#include <QDateTime>
#include <QString>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "gui/documents/file_stamp.h"

class QLockFile;

namespace tutti::gui {

/// The unsaved text of a scenario, as a recovery file stores it.
struct UnsavedText {
  QString path;  ///< path of the scenario's file; empty: none yet
  /// The stamp of the scenario's file when the editor last read or wrote it.
  std::optional<FileStamp> file_stamp;
  bool byte_order_mark = false;
  bool crlf = false;
  std::string text;
};

/// Keeps the unsaved text of one editor in a file, so that the text survives a crash. Every editor
/// has its own recovery file, even if two editors have the same scenario open. A lock file next to
/// the recovery file shows that the editor is running.
class RecoveryFile {
 public:
  /// `folder`: the directory of recovery files, which is created on first use. Empty: nothing is
  /// kept.
  explicit RecoveryFile(QString folder);
  /// The destructor does not remove the file, so that left_behind() can find it.
  ~RecoveryFile();

  /// Replaces the stored text atomically. ERRORS: the system's message.
  core::Expected<void> keep(const UnsavedText& unsaved);
  /// Removes the file. Must be called when the text is saved, or when the user discards the
  /// changes.
  void remove();

 private:
  QString folder_;
  QString file_;  ///< path of the recovery file; empty: there is no recovery file
  std::unique_ptr<QLockFile> lock_;
};

/// A recovery file whose editor no longer runs. While this object exists, no other window offers
/// the file for recovery.
class LeftBehind {
 public:
  LeftBehind(QString file, QDateTime kept, UnsavedText unsaved, std::unique_ptr<QLockFile> lock);
  LeftBehind(LeftBehind&&) noexcept;
  LeftBehind& operator=(LeftBehind&&) noexcept;
  ~LeftBehind();

  [[nodiscard]] const UnsavedText& unsaved() const { return unsaved_; }
  /// Returns the time at which the text was written.
  [[nodiscard]] const QDateTime& kept() const { return kept_; }
  /// Removes the file.
  void discard();

 private:
  QString file_;
  QDateTime kept_;
  UnsavedText unsaved_;
  std::unique_ptr<QLockFile> lock_;
};

/// Returns the recovery files of editors that no longer run, newest first. If `path` is given,
/// returns only recovery files of that scenario. Omits files that cannot be read.
std::vector<LeftBehind> left_behind(const QString& folder,
                                    const std::optional<QString>& path = std::nullopt);

}  // namespace tutti::gui
