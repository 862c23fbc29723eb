#pragma once

#include <spawn.h>
#include <csignal>
#include <map>
#include <string>
#include <vector>

namespace tutti::test {

/// Spawn attributes for a process with default signal handlers. The process that runs the tests may
/// ignore some signals (nohup, a shell's background jobs), which tested programs must not inherit.
class UsualSignals {
 public:
  UsualSignals() {
    posix_spawnattr_init(&attributes_);
    sigset_t usual;
    sigemptyset(&usual);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) sigaddset(&usual, number);
    posix_spawnattr_setsigdefault(&attributes_, &usual);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
  }
  ~UsualSignals() { posix_spawnattr_destroy(&attributes_); }
  UsualSignals(const UsualSignals&) = delete;
  UsualSignals& operator=(const UsualSignals&) = delete;

  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

/// The environment variables of this process, plus additional ones, without those that launchers
/// set (the tests may have been started by a launcher).
class EnvironmentWith {
 public:
  explicit EnvironmentWith(const std::map<std::string, std::string>& more);

  /// Returns the environment in the format of posix_spawn().
  [[nodiscard]] char* const* get() const { return pointers_.data(); }

 private:
  std::vector<std::string> settings_;
  std::vector<char*> pointers_;
};

}  // namespace tutti::test
