#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tutti::tools {

// The terminal that commands write to: its width and its colours. A command that another program
// calls (tools/tutti/io/capture.h) has no width and no colours.

/// The values of --color.
enum class Color {
  kAuto,    ///< colours if the stream is a terminal, NO_COLOR is unset and TERM is not "dumb"
  kAlways,  ///< colours even in files and pipes
  kNever
};
inline constexpr const char* kColors = "auto, always, never";
std::optional<Color> parse_color(std::string_view written);
/// Called once, when the command line is known. Before the first call, the setting is kAuto.
void set_color(Color set);

/// The style in which a piece of text is shown.
enum class Style { kError, kNote, kHeading };
/// Returns the text with the escape sequences of its style if `descriptor` (STDOUT_FILENO or
/// STDERR_FILENO) is shown in colours; otherwise returns the text itself.
std::string styled(Style style, const std::string& text, int descriptor);

/// Returns the maximum number of columns of a line of `descriptor` (STDOUT_FILENO or
/// STDERR_FILENO): the value of the environment variable COLUMNS, or the width of the terminal, but
/// at least 40. Returns nullopt, which means no limit, if `descriptor` is a file or pipe and
/// COLUMNS is unset.
std::optional<int> terminal_width(int descriptor);
/// Returns the maximum number of columns of a row of a table on standard output: terminal_width(),
/// or nullopt with --verbose, which prints complete tables.
std::optional<int> line_width();

/// Returns the number of characters (not bytes) of a text in UTF-8: "µs" has a width of two.
std::size_t text_width(std::string_view text);
/// Returns the text in at most `width` characters; the middle is replaced by "…" if necessary.
std::string elided_middle(const std::string& text, std::size_t width);
/// Breaks lines that are longer than `width`, at a space or, if there is no space, after a '|'. The
/// continuation lines of a broken line are indented, and begin with '#' if the broken line does.
/// Lines with several columns, which are rows of tables, are not broken.
std::string wrapped(const std::string& text, std::size_t width);

/// Writes a report to standard output, wrapped to the width of the lines, with coloured notes.
/// Returns the exit status in the same way as print_out().
int print_report(const std::string& text);

}  // namespace tutti::tools
