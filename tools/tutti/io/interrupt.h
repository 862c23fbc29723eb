#pragma once

#include <array>
#include <atomic>
#include <csignal>

namespace tutti::tools {

/// The signals that class Interrupt handles. By default, these signals end a program.
inline constexpr std::array<int, 3> kEndingSignals{SIGINT, SIGTERM, SIGHUP};

/// While an object of this class exists, Ctrl-C, SIGTERM and SIGHUP set a flag instead of ending
/// the program, so that the program can complete its files. A second signal ends the program
/// immediately. A signal that is already ignored (because of nohup, or in a background job of a
/// shell) remains ignored. If another program calls a command in this process, the program's flag
/// (Capture::cancel) is used instead, and the program's signal handlers remain.
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
