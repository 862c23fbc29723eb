#pragma once

#include <QDateTime>
#include <QString>
#include <string>

#include "core/base/error.h"

namespace tutti::gui {

/// What lies in a scenario's file, as it lies there.
struct ScenarioBytes {
  QString path;
  QDateTime written;
  std::string bytes;

  /// Reads a file; in any thread. ERRORS: missing, no file (a folder, a pipe, …), unreadable, larger than kMostBytes.
  static core::Expected<ScenarioBytes> read(const QString& from);
  /// The largest text that is edited here: form and text follow every key.
  static constexpr qint64 kMostBytes = 4 << 20;
};

/// A scenario's file: how its text lies in it, so that what nobody has changed is written as it was read.
struct ScenarioFile {
  QString path;       ///< empty: it has none yet
  QDateTime written;  ///< when the file was, as far as is known here
  bool byte_order_mark = false;
  bool crlf = false;  ///< lines end with "\r\n"; texts in memory have '\n' alone

  /// Of one line: Qt takes seconds to break longer ones.
  static constexpr std::size_t kMostBytesOfALine = 64 << 10;

  /// Answers the text of what was read, and fills in the rest. ERRORS: not UTF-8, a line too long, lines that end now so and now so.
  core::Expected<std::string> take(const ScenarioBytes& read);
  /// Writes a file that is whole or not there. ERRORS: in the system's words.
  core::Expected<void> write(const std::string& text, const QString& to);
  /// Somebody else has written it meanwhile.
  [[nodiscard]] bool changed_meanwhile() const;
};

}  // namespace tutti::gui
