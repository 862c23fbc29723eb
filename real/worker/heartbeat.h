#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "real/join/control.h"

namespace tutti::real {

/// Reports the activity of this process to the coordinator at regular intervals, from a separate
/// thread. A process that fills or compares large buffers for a long time therefore counts as
/// alive. A process that is stopped, or whose machine is gone, counts as dead.
class Heartbeat {
 public:
  /// REQUIRES: `channel` outlives this object.
  Heartbeat(ControlChannel& channel, std::chrono::milliseconds interval);
  ~Heartbeat();

  void now_doing(std::string what);
  [[nodiscard]] std::string doing() const;
  /// Sets the start of the current standstill, and a text that describes what the run waits for. In
  /// a standstill, this process moves no data and has no pending timers. If `since` is nullopt, the
  /// process makes progress.
  void set_standstill(std::optional<std::chrono::steady_clock::time_point> since,
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
