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

/// The unsaved text of a scenario, as a recovery file stores it.
struct UnsavedText {
  QString path;            ///< path of the scenario's file; empty: none yet
  QDateTime file_written;  ///< when that file was last written, as far as the editor knows
  bool byte_order_mark = false;
  bool crlf = false;
  std::string text;
};

/// Keeps the unsaved text of one editor in a file, so that it survives a crash. Every editor has
/// its own recovery file, even if two of them edit the same scenario. A lock file next to it shows
/// that its editor is alive.
class RecoveryFile {
 public:
  /// `folder`: the directory of the recovery files, created on first use. Empty: nothing is kept.
  explicit RecoveryFile(QString folder);
  /// Does not remove the file, so that left_behind() can find it.
  ~RecoveryFile();

  /// Replaces the stored text. The replacement is atomic. ERRORS: the system's message.
  core::Expected<void> keep(const UnsavedText& unsaved);
  /// Removes the file, when the text is saved or its changes are discarded.
  void remove();

 private:
  QString folder_;
  QString file_;  ///< path of the recovery file; empty: there is none
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
  /// Returns when the text was written.
  [[nodiscard]] const QDateTime& kept() const { return kept_; }
  /// Removes the file.
  void discard();

 private:
  QString file_;
  QDateTime kept_;
  UnsavedText unsaved_;
  std::unique_ptr<QLockFile> lock_;
};

/// Returns the recovery files that editors left behind, newest first; only those of `path` if one
/// is given. Files that cannot be read, or whose editor is alive, are left out.
std::vector<LeftBehind> left_behind(const QString& folder,
                                    const std::optional<QString>& path = std::nullopt);

}  // namespace tutti::gui
