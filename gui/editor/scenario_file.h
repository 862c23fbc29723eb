#pragma once

#include <QString>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "gui/documents/file_stamp.h"

namespace tutti::gui {

/// The raw content of a scenario's file.
struct ScenarioBytes {
  QString path;
  std::optional<FileStamp> stamp;  ///< the stamp of the file, taken before the file was read
  std::string bytes;

  /// Reads a file. May be called from any thread. ERRORS: the file is missing or unreadable, is a
  /// folder or a pipe, or is larger than kMaxBytes.
  static core::Expected<ScenarioBytes> read(const QString& from);
  /// The size in bytes of the largest text that can be edited. The size is limited because form and
  /// text are updated on every keystroke.
  static constexpr qint64 kMaxBytes = 4 << 20;
};

/// A scenario's file and its format on disk. The editor keeps the format, so that unchanged parts
/// of the file are written as they were read.
struct ScenarioFile {
  QString path;  ///< path of the file; empty: none yet
  /// The stamp of the file when the editor last read or wrote it.
  std::optional<FileStamp> stamp;
  bool byte_order_mark = false;
  /// True: lines of the file end with "\r\n"; in memory they always end with '\n'.
  bool crlf = false;

  /// The size in bytes of the longest line that is accepted. Qt takes seconds to wrap longer lines.
  static constexpr std::size_t kMaxBytesOfALine = 64 << 10;

  /// Returns the text that the raw content contains, and sets the other members. ERRORS: the file
  /// is not UTF-8, has a line that is too long, or has mixed line endings.
  core::Expected<std::string> take(const ScenarioBytes& read);
  /// Writes a file atomically. ERRORS: the system's message.
  core::Expected<void> write(const std::string& text, const QString& to);
  /// Returns true if another program has written the file since it was read.
  [[nodiscard]] bool changed_meanwhile() const;
};

}  // namespace tutti::gui
