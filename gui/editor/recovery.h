#pragma once

#include <QDateTime>
#include <QString>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"

class QLockFile;

namespace tutti::gui {

/// The text of a scenario with changes that nobody has saved, as a recovery file holds it.
struct UnsavedText {
  QString path;            ///< of the scenario's file; empty: it has none yet
  QDateTime file_written;  ///< when that file was written, as far as the editor knew
  bool byte_order_mark = false;
  bool crlf = false;
  std::string text;
};

/// Keeps the unsaved text of one editor in a file, so that it outlives the program. Every editor has a recovery file of its
/// own, also if two of them edit the same scenario; a lock file beside it says that its editor is alive.
class RecoveryFile {
 public:
  /// `folder`: the directory of the recovery files, created on first use. Empty: nothing is kept.
  explicit RecoveryFile(QString folder);
  /// Leaves the file where it is, for whoever looks for it (left_behind()).
  ~RecoveryFile();

  /// Writes the text in place of the one before: the file is whole at any moment. ERRORS: in the system's words.
  core::Expected<void> keep(const UnsavedText& unsaved);
  /// Removes the file: the text is saved, or nobody wants it.
  void remove();

 private:
  QString folder_;
  QString file_;  ///< empty: there is none
  std::unique_ptr<QLockFile> lock_;
};

/// A recovery file whose editor is gone. While this exists, no other window is offered it.
class LeftBehind {
 public:
  LeftBehind(QString file, QDateTime kept, UnsavedText unsaved, std::unique_ptr<QLockFile> lock);
  LeftBehind(LeftBehind&&) noexcept;
  LeftBehind& operator=(LeftBehind&&) noexcept;
  ~LeftBehind();

  [[nodiscard]] const UnsavedText& unsaved() const { return unsaved_; }
  /// When the text was written.
  [[nodiscard]] const QDateTime& kept() const { return kept_; }
  /// Removes the file.
  void discard();

 private:
  QString file_;
  QDateTime kept_;
  UnsavedText unsaved_;
  std::unique_ptr<QLockFile> lock_;
};

/// The recovery files that editors left behind, the newest first; of `path` alone, if one is given. Files that cannot be
/// read, or whose editor is alive, are left out.
std::vector<LeftBehind> left_behind(const QString& folder, const std::optional<QString>& path = std::nullopt);

}  // namespace tutti::gui
