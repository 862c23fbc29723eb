#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/time_left.h"

namespace tutti::tools {

/// Shows the progress of long work on stderr: a bar that is redrawn on a terminal; elsewhere a line
/// every few seconds with --verbose, else nothing. Work of less than a second shows nothing.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Removes the bar until the next update, so that other text can be written.
  void clear();
  /// Sets the completed share of the work, 0 … 1. May be called by any one thread.
  void update(double share);

 private:
  using Clock = std::chrono::steady_clock;
  /// A caller within this process is told every update, whatever the time.
  const std::function<void(std::string_view, double)>* told_caller_;
  std::string what_;
  core::TimeLeft left_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point began_ = Clock::now();
  Clock::time_point told_ = Clock::now();
};

}  // namespace tutti::tools
