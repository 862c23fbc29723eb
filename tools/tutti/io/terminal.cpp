#include "tools/tutti/io/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "core/text/printable.h"
#include "tools/tutti/command.h"
#include "tools/tutti/io/capture.h"
#include "tools/tutti/io/standard_output.h"

namespace tutti::tools {
namespace {

constexpr int kMinWidth = 40;
constexpr std::string_view kNotePrefix = "note: ";

Color& color_setting() {
  static Color color = Color::kAuto;
  return color;
}

bool is_set(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

bool has_colors(int descriptor) {
  if (capture() != nullptr) return false;
  if (color_setting() != Color::kAuto) return color_setting() == Color::kAlways;
  const char* const terminal = std::getenv("TERM");
  return isatty(descriptor) != 0 && !is_set("NO_COLOR") &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

/// Returns the parameters of the escape sequence "Select Graphic Rendition" (ECMA-48, 8.3.117).
const char* rendition(Style style) {
  switch (style) {
    case Style::kError: return "1;31";  // bold red
    case Style::kNote: return "33";     // yellow
    case Style::kHeading: return "1";   // bold
  }
  return "0";
}

/// Returns the byte offset at which the first `characters` characters of the text end.
std::size_t offset_of(std::string_view text, std::size_t characters) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) continue;
    if (characters-- == 0) break;
  }
  return at;
}

/// Returns the indentation of the continuation lines if this line is wrapped; nullopt if the line
/// must not be wrapped. In tables in the format of nccl-tests, lines may begin with '#'.
std::optional<std::size_t> hanging_indent(std::string_view line) {
  const std::size_t start = line.starts_with('#') ? 1 : 0;
  const std::size_t first = std::min(line.find_first_not_of(' ', start), line.size());
  if (line.substr(first).starts_with(kNotePrefix)) return first + kNotePrefix.size();
  // A schedule step, such as "0  send   data[0..9) → rank 1 lane 0": further lines begin below the
  // last column.
  const std::size_t arrow = std::min(line.find(" → "), line.find(" ← "));
  if (arrow != std::string_view::npos) {
    const std::size_t before = line.rfind("  ", arrow);
    return text_width(line.substr(0, before == std::string_view::npos ? first : before + 2)) + 2;
  }
  const std::size_t gap = line.find("  ", first);
  if (gap == std::string_view::npos) return first + 2;
  // "cluster   2 × dgx1-v100" is a title and a text; further lines begin below the text. A line
  // with more columns is a row of a table.
  const std::size_t second = line.find_first_not_of(' ', gap);
  if (second == std::string_view::npos || line.find("  ", second) != std::string_view::npos)
    return std::nullopt;
  return text_width(line.substr(0, second));
}

/// Makes a report safe to print, because it may contain names from files. Only the style of
/// headings (styled()), which always covers a whole line, remains.
std::string safe_report(const std::string& text) {
  const std::string begin = std::string("\033[") + rendition(Style::kHeading) + 'm';
  constexpr std::string_view kEnd = "\033[0m";
  const bool colors = has_colors(STDOUT_FILENO);
  std::string safe;
  safe.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (colors && line.size() >= begin.size() + kEnd.size() && line.starts_with(begin) &&
        line.ends_with(kEnd)) {
      safe += begin;
      safe += core::printable(line.substr(begin.size(), line.size() - begin.size() - kEnd.size()));
      safe += kEnd;
    } else {
      safe += core::printable(line);
    }
    if (end < text.size()) safe += '\n';
    at = end + 1;
  }
  return safe;
}

void append_wrapped(std::string& out, std::string_view line, std::size_t width) {
  const auto indent = text_width(line) > width ? hanging_indent(line) : std::nullopt;
  if (!indent || *indent + 20 > width) {
    out += line;
    return;
  }
  std::string margin(*indent, ' ');
  if (line.starts_with('#')) margin[0] = '#';
  std::size_t room = width;
  std::size_t start = line.find_first_not_of("# ");  // no break before the first word
  while (text_width(line) > room) {
    std::size_t at = line.rfind(' ', offset_of(line, room));
    if (at == std::string_view::npos || at <= start) {
      // The choices of an option are one word (sum|prod|max), which continues after a '|'.
      const std::size_t bar = line.substr(0, offset_of(line, room)).rfind('|');
      if (bar != std::string_view::npos && bar > start) {
        out += line.substr(0, bar + 1);
        out += '\n' + margin;
        line.remove_prefix(bar + 1);
        room = width - *indent;
        start = 0;
        continue;
      }
      at = line.find(' ', start);
    }
    if (at == std::string_view::npos) break;  // a single word
    out += line.substr(0, line.find_last_not_of(' ', at) + 1);
    out += '\n' + margin;
    line.remove_prefix(at + 1);
    room = width - *indent;
    start = 0;
  }
  out += line;
}

}  // namespace

std::optional<Color> parse_color(std::string_view written) {
  if (written == "auto") return Color::kAuto;
  if (written == "always") return Color::kAlways;
  if (written == "never") return Color::kNever;
  return std::nullopt;
}

void set_color(Color set) { color_setting() = set; }

std::string styled(Style style, const std::string& text, int descriptor) {
  if (text.empty() || !has_colors(descriptor)) return text;
  return std::string("\033[") + rendition(style) + 'm' + text + "\033[0m";
}

std::optional<int> terminal_width(int descriptor) {
  if (capture() != nullptr) return std::nullopt;
  if (const char* const columns = std::getenv("COLUMNS")) {
    char* end = nullptr;
    const long width = std::strtol(columns, &end, 10);
    if (end != columns && *end == '\0' && width > 0 && width < 100'000)
      return std::max(static_cast<int>(width), kMinWidth);
  }
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return std::max(static_cast<int>(size.ws_col), kMinWidth);
}

std::optional<int> line_width() {
  return verbosity() == Verbosity::kVerbose ? std::nullopt : terminal_width(STDOUT_FILENO);
}

std::size_t text_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string elided_middle(const std::string& text, std::size_t width) {
  const std::size_t characters = text_width(text);
  if (characters <= width || width == 0) return text;
  const std::size_t tail = (width - 1) / 2;
  return text.substr(0, offset_of(text, width - 1 - tail)) + "…" +
         text.substr(offset_of(text, characters - tail));
}

std::string wrapped(const std::string& text, std::size_t width) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    append_wrapped(out, std::string_view(text).substr(at, end - at), width);
    if (end < text.size()) out += '\n';
    at = end + 1;
  }
  return out;
}

int print_report(const std::string& text) {
  const auto width = terminal_width(STDOUT_FILENO);
  const std::string safe = safe_report(text);
  std::string shown = width ? wrapped(safe, static_cast<std::size_t>(*width)) : safe;
  const std::string prefix = styled(Style::kNote, "note:", STDOUT_FILENO);
  if (prefix != "note:") {
    for (std::size_t at = 0; at < shown.size(); at = std::max(shown.find('\n', at), at) + 1) {
      if (shown.compare(at, kNotePrefix.size(), kNotePrefix) == 0) shown.replace(at, 5, prefix);
      if (shown.find('\n', at) == std::string::npos) break;
    }
  }
  return write_out(shown);
}

}  // namespace tutti::tools
