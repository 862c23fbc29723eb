#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "real/join/control.h"

namespace tutti::real {

/// Repeatedly tells the coordinator that this process is alive and what it does, from a separate
/// thread: a process that fills or compares large buffers for long still counts as alive, one that
/// is stopped, or whose machine is gone, does not.
class Heartbeat {
 public:
  /// REQUIRES: `channel` outlives it.
  Heartbeat(ControlChannel& channel, std::chrono::milliseconds interval);
  ~Heartbeat();

  void now_doing(std::string what);
  [[nodiscard]] std::string doing() const;
  /// Reports that nothing has moved since `since` and nothing is due, and what the run waits for;
  /// nothing: something moves.
  void standing_still(std::optional<std::chrono::steady_clock::time_point> since,
                      std::string where);

 private:
  void beat();

  ControlChannel& channel_;
  std::chrono::milliseconds interval_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::string doing_;
  std::optional<std::chrono::steady_clock::time_point> still_since_;
  std::string stands_;
  std::thread thread_;
};

}  // namespace tutti::real
