#include "tools/tutti/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/core.h>

#include "tools/tutti/command.h"

namespace tutti::tools {
namespace {

constexpr auto kQuiet = std::chrono::seconds(1);
constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr auto kLine = std::chrono::seconds(5);
constexpr int kBar = 30;

}  // namespace

Progress::Progress(std::string what) : what_(std::move(what)), terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() { clear(); }

void Progress::clear() {
  if (drawn_) tell("\r\033[K");
  drawn_ = false;
}

void Progress::update(double share) {
  const auto now = Clock::now();
  const auto since = now - began_;
  if (since < kQuiet || now - told_ < (terminal_ ? Clock::duration(kRedraw) : Clock::duration(kLine))) return;
  told_ = now;
  share = std::clamp(share, 0.0, 1.0);
  const double seconds = std::chrono::duration<double>(since).count();
  const std::string left = share > 0.01 ? fmt::format(", {:.0f} s left", std::ceil(seconds / share - seconds)) : "";
  if (!terminal_) {
    return tell(fmt::format("{}: {:.0f} %{}\n", what_, 100 * share, left));
  }
  const int full = static_cast<int>(share * kBar);
  tell(fmt::format("\r\033[K{} [{}{}] {:.0f} %{}", what_, std::string(static_cast<std::size_t>(full), '#'),
                   std::string(static_cast<std::size_t>(kBar - full), '.'), 100 * share, left));
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace tutti::tools
