#include "gui/editor/scenario_file.h"

#include <QFileInfo>
#include <QSaveFile>
#include <QTextDocument>
#include <algorithm>

#include "core/base/file.h"
#include "core/text/document.h"

namespace tutti::gui {

using core::Error;
using core::Expected;

namespace {

constexpr const char* kMark = "\xEF\xBB\xBF";

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::string made;
  std::size_t at = 0;
  for (std::size_t next = text.find(from); next != std::string::npos; next = text.find(from, at)) {
    made.append(text, at, next - at).append(to);
    at = next + from.size();
  }
  text = made.append(text, at);
}

}  // namespace

Expected<ScenarioBytes> ScenarioBytes::read(const QString& from) {
  const QFileInfo file(from);
  const std::string name = from.toStdString();
  const auto stamp = FileStamp::of(name);
  if (file.size() > kMaxBytes) {
    return tl::make_unexpected(Error::request(
        "this file is larger than the editor's limit of 4 MiB; is it a scenario?", {name, 0, 0}));
  }
  auto bytes = core::read_text_file(name);
  if (!bytes) return tl::make_unexpected(bytes.error());
  return ScenarioBytes{from, stamp, std::move(*bytes)};
}

Expected<std::string> ScenarioFile::take(const ScenarioBytes& read) {
  const std::string name = read.path.toStdString();
  const auto refuse = [&](const std::string& why) {
    return tl::make_unexpected(Error::request(why, {name, 0, 0}));
  };
  std::optional<std::string> text = read.bytes;
  core::Problems problems;
  if (!core::utf8_content(*text, name, problems)) return problems.take();
  ScenarioFile file{read.path, read.stamp, text->starts_with(kMark), false};
  if (file.byte_order_mark) text->erase(0, 3);
  file.crlf = text->find("\r\n") != std::string::npos;
  std::string lines = *text;
  if (file.crlf) replace_all(lines, "\r\n", "\n");
  std::string again = lines;
  if (file.crlf) replace_all(again, "\n", "\r\n");
  if (again != *text || lines.find('\r') != std::string::npos)
    return refuse(
        "some lines of this file end with \\r\\n or \\r, and all other lines with \\n; use the "
        "same line endings everywhere (dos2unix) and open the file again");
  for (std::size_t at = 0, line = 1; at < lines.size(); ++line) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    if (end - at > kMaxBytesOfALine)
      return refuse(
          fmt::format("line {} is {} bytes long, which exceeds the editor's limit of {}; split the "
                      "line (JSON: python3 -m json.tool)",
                      line, end - at, kMaxBytesOfALine));
    at = end + 1;
  }
  // Reject characters that QTextDocument treats as the end of a line or of a frame.
  QTextDocument document;
  document.setPlainText(QString::fromStdString(lines));
  if (lines.find('\0') != std::string::npos ||
      document.toRawText().replace(QChar::ParagraphSeparator, QLatin1Char('\n')).toStdString() !=
          lines)
    return refuse(
        "the file has characters that the editor cannot show (such as NUL or U+2029); is it a "
        "scenario?");
  *this = file;
  return lines;
}

Expected<void> ScenarioFile::write(const std::string& text, const QString& to) {
  std::string bytes = text;
  if (crlf) replace_all(bytes, "\n", "\r\n");
  if (byte_order_mark) bytes.insert(0, kMark);
  QSaveFile file(to);
  const auto size = static_cast<qint64>(bytes.size());
  if (!file.open(QIODevice::WriteOnly) || file.write(bytes.data(), size) != size || !file.commit())
    return tl::make_unexpected(
        Error::run((to + QStringLiteral(": ") + file.errorString()).toStdString()));
  path = to;
  stamp = FileStamp::of(to.toStdString());
  return {};
}

bool ScenarioFile::changed_meanwhile() const {
  const auto now = FileStamp::of(path.toStdString());
  return now && now != stamp;
}

}  // namespace tutti::gui
