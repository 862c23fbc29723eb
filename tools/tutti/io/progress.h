#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/time_left.h"

namespace tutti::tools {

/// Shows the progress of long work on stderr. On a terminal, the progress is shown as a bar that is
/// redrawn. If stderr is not a terminal, --verbose prints a line every few seconds. No progress is
/// shown for work of less than a second.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Removes the bar until the next update, so that other text can be written.
  void clear();
  /// Sets the completed fraction of the work, from 0 to 1. May be called by any thread, but only by
  /// one thread at a time.
  void update(double share);

 private:
  using Clock = std::chrono::steady_clock;
  /// The progress function of a calling program, which receives every update; null: none.
  const std::function<void(std::string_view, double)>* caller_notified_;
  std::string what_;
  core::TimeLeft left_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point began_ = Clock::now();
  Clock::time_point last_update_ = Clock::now();
};

/// Prints that an interrupted command waits for simulations that cannot stop yet. The text replaces
/// the bar that may be shown.
void print_waiting();

}  // namespace tutti::tools
