#pragma once

#include <array>
#include <atomic>
#include <csignal>

namespace tutti::tools {

/// The signals that class Interrupt handles. By default, these signals end a program.
inline constexpr std::array<int, 3> kEndingSignals{SIGINT, SIGTERM, SIGHUP};

/// From now on, a signal that no Interrupt handles ends the program with status 1 and the message
/// "tutti: interrupted". Incomplete output files are removed. Without this call, such a signal ends
/// the program without a message. Ignored signals remain ignored.
void end_on_signals();

/// While an object of this class exists, Ctrl-C, SIGTERM and SIGHUP set a flag instead of ending
/// the program, so that the program can complete its files. A second signal ends the program
/// immediately. A signal that is already ignored (because of nohup, or in a background job of a
/// shell) remains ignored. If another program calls a command in this process, the program's flag
/// (Capture::cancel) is used instead, and the program's signal handlers remain.
class Interrupt {
 public:
  enum class Begins {
    kNow,
    kLater  ///< signals end the program until begin() is called, for work that cannot be stopped
            ///< and has no results yet
  };
  explicit Interrupt(Begins begins = Begins::kNow);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// Begins to handle signals. Further calls have no effect.
  void begin();
  [[nodiscard]] const std::atomic<bool>& flag() const;
  [[nodiscard]] bool happened() const { return flag().load(); }

 private:
  bool begun_ = false;
  const std::atomic<bool>* callers_ = nullptr;  ///< the flag of a calling program; null: none
  std::array<void (*)(int), 3> before_{};
};

}  // namespace tutti::tools
