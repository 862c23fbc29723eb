#pragma once

#include <array>
#include <atomic>
#include <csignal>

namespace tutti::tools {

/// The signals that end a program by default.
inline constexpr std::array<int, 3> kEndingSignals{SIGINT, SIGTERM, SIGHUP};

/// While an object of this class exists, Ctrl-C, SIGTERM and SIGHUP set a flag instead of ending
/// the program, so that the program can complete its files. A second signal ends the program at
/// once. Signals that are ignored (by nohup, or in a shell's background jobs) stay ignored. If
/// another program calls a command in this process, its flag (Capture::cancel) is used instead, and
/// its signal handlers stay.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  [[nodiscard]] const std::atomic<bool>& flag() const;
  [[nodiscard]] bool happened() const { return flag().load(); }

 private:
  const std::atomic<bool>* callers_ = nullptr;  ///< the flag of a calling program; null: none
  std::array<void (*)(int), 3> before_{};
};

}  // namespace tutti::tools
