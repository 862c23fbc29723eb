#pragma once

#include <spawn.h>
#include <csignal>
#include <map>
#include <string>
#include <vector>

namespace tutti::test {

/// Attributes of a process that takes signals as usual. Whoever runs the tests may ignore some
/// (nohup, a shell's background jobs); a program that is tested shall not inherit that.
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

/// This process's environment variables, without those by which launchers tell their processes of
/// each other (the tests may have been started by one), and some more.
class EnvironmentWith {
 public:
  explicit EnvironmentWith(const std::map<std::string, std::string>& more);

  /// As posix_spawn takes it.
  [[nodiscard]] char* const* get() const { return pointers_.data(); }

 private:
  std::vector<std::string> settings_;
  std::vector<char*> pointers_;
};

}  // namespace tutti::test
