#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "real/join/control.h"

namespace tutti::real {

/// Tells the coordinator again and again that this process is there and what it does, from a thread of its own: filling
/// or comparing large buffers takes long, and is no silence. A process that is stopped, or a machine that is gone, is.
class Heartbeat {
 public:
  /// REQUIRES: `channel` outlives it.
  Heartbeat(ControlChannel& channel, std::chrono::milliseconds interval);
  ~Heartbeat();

  void now_doing(std::string what);
  [[nodiscard]] std::string doing() const;
  /// Nothing has moved since then and nothing is due, and where the run stands; nothing: something is.
  void standing_still(std::optional<std::chrono::steady_clock::time_point> since, std::string where);

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
