#pragma once

#include <array>
#include <atomic>
#include <csignal>

namespace tutti::tools {

/// The signals that end a program by default.
inline constexpr std::array<int, 3> kEndingSignals{SIGINT, SIGTERM, SIGHUP};

/// While an object exists, Ctrl-C (and SIGTERM, and SIGHUP) sets a flag instead of ending the
/// program, so that files are completed. A second signal ends it at once. Signals that are ignored
/// (nohup, a shell's background jobs) stay ignored. A caller within this process has its own flag
/// (Capture::cancel) and its own handlers, which stay.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  [[nodiscard]] const std::atomic<bool>& flag() const;
  [[nodiscard]] bool happened() const { return flag().load(); }

 private:
  const std::atomic<bool>* callers_ = nullptr;  ///< the flag of a caller within this process
  std::array<void (*)(int), 3> before_{};
};

}  // namespace tutti::tools
