#pragma once

#include <sys/types.h>

#include <string>

#include "real/join/socket.h"

namespace tutti::tools {

/// Marks the file of a sweep, so that other processes know that this process executes the sweep.
/// The mark exists until this object is destroyed or the process ends for any reason. The mark is a
/// local socket whose name contains the device and inode of the file, so it needs no file of its
/// own and is never stale. (A sweep's file cannot be shared between machines, because SQLite's
/// write-ahead log cannot be shared between machines.)
class SweepClaim {
 public:
  static constexpr pid_t kUnknown = -1;

  explicit SweepClaim(const std::string& file);

  /// Returns the id of the process that executes the sweep; 0 if this process does. A process of
  /// another user counts only if it belongs to the owner of the file or to root, so that nobody
  /// else can block a sweep. Returns kUnknown if the process cannot be determined, because
  /// thousands of earlier attempts during the same sweep have filled the socket's queue.
  [[nodiscard]] pid_t held_by() const { return held_by_; }

 private:
  real::Socket socket_;
  pid_t held_by_ = 0;
};

}  // namespace tutti::tools
