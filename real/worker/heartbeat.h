#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "real/join/control.h"

namespace tutti::real {

/// Repeatedly reports to the coordinator, from a separate thread, that this process is alive, and
/// its activity. So a process that fills or compares large buffers for a long time still counts as
/// alive; a process that is stopped, or whose machine is gone, does not.
class Heartbeat {
 public:
  /// REQUIRES: `channel` outlives this object.
  Heartbeat(ControlChannel& channel, std::chrono::milliseconds interval);
  ~Heartbeat();

  void now_doing(std::string what);
  [[nodiscard]] std::string doing() const;
  /// Sets the time since when this process has moved no data and has no pending timers, and a text
  /// on what the run waits for. No time: the process makes progress.
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
