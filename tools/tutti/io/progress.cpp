#include "tools/tutti/io/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include <fmt/core.h>

#include "tools/tutti/command.h"
#include "tools/tutti/io/capture.h"

namespace tutti::tools {
namespace {

constexpr auto kQuiet = std::chrono::seconds(1);
constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr auto kLine = std::chrono::seconds(5);
constexpr int kBar = 30;

/// Replaces the current line of the terminal. The text must contain no text from files, because it
/// is written unchanged. Write errors are ignored.
void draw(const std::string& line) {
  static_cast<void>(std::fputs(("\r\033[K" + line).c_str(), stderr));
  static_cast<void>(std::fflush(stderr));
}

}  // namespace

Progress::Progress(std::string what)
    : caller_notified_(capture() ? &capture()->progress : nullptr),
      what_(std::move(what)),
      terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() { clear(); }

void Progress::clear() {
  if (drawn_) draw("");
  drawn_ = false;
}

void Progress::update(double share) {
  if (caller_notified_) {
    if (*caller_notified_) (*caller_notified_)(what_, share);
    return;
  }
  if (verbosity() == Verbosity::kNone || (!terminal_ && verbosity() != Verbosity::kVerbose)) return;
  const auto now = Clock::now();
  const auto since = now - began_;
  if (since < kQuiet ||
      now - last_update_ < (terminal_ ? Clock::duration(kRedraw) : Clock::duration(kLine)))
    return;
  last_update_ = now;
  const std::string words = left_.text(share, std::chrono::duration<double>(since).count());
  if (!terminal_) return print_note(fmt::format("{}: {}\n", what_, words));
  const int full = static_cast<int>(std::clamp(share, 0.0, 1.0) * kBar);
  draw(fmt::format("{} [{}{}] {}", what_, std::string(full, '#'), std::string(kBar - full, '.'),
                   words));
  drawn_ = true;
}

void print_waiting() {
  if (capture() == nullptr && isatty(STDERR_FILENO) != 0) draw("");
  print_note(
      "tutti: stopping when the current simulation can be stopped (interrupt again to end at "
      "once)\n");
}

}  // namespace tutti::tools
