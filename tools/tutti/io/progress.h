#pragma once

#include <chrono>
#include <string>

#include "core/base/time_left.h"

namespace tutti::tools {

/// Tells how far long work is, on stderr: a bar that redraws itself on a terminal, a line every few seconds elsewhere.
/// Work that is over within a second shows nothing.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Takes the bar away, for what is to be written there, until the next update.
  void clear();
  /// `share` of the work is done, 0 … 1.
  void update(double share);

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  core::TimeLeft left_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point began_ = Clock::now();
  Clock::time_point told_ = Clock::now();
};

}  // namespace tutti::tools
