#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "tests/support/program.h"

namespace tutti::test {

/// A program that runs while the test goes on. Ended, if it still runs, with this object.
class Process {
 public:
  struct Options {
    std::map<std::string, std::string>
        environment{};     ///< beside the caller's, without what launchers leave there
    std::string folder{};  ///< the working folder; empty: the caller's
    int memory_mb = 0;     ///< it may have no more than this, if not 0
  };

  /// The tutti command with these arguments. Throws if it cannot be started.
  explicit Process(const std::vector<std::string>& arguments) : Process(arguments, Options{}) {}
  Process(const std::vector<std::string>& arguments, const Options& options);
  /// Any program: `words[0]` is looked for in the PATH.
  static Process of(std::vector<std::string> words, const Options& options);
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  ~Process();

  [[nodiscard]] pid_t id() const { return id_; }
  void signal(int number) const;
  /// Waits until it handles that signal itself, or it ended. False if it never did.
  [[nodiscard]] bool handles(int number) const;
  /// Waits until its standard error holds this, or it ended. False if it never did.
  bool says(const std::string& text);
  [[nodiscard]] std::string err() const;
  /// What it has written to its standard output so far.
  [[nodiscard]] std::string out() const;
  /// Waits for its end.
  Outcome wait();

 private:
  Process() = default;
  void start(std::vector<std::string> words, const Options& options);
  [[nodiscard]] bool running() const;

  TemporaryFolder talk_;
  pid_t id_ = -1;
};

/// The path of the tutti command.
std::string tutti_program();
/// Whether a program is to be found in the PATH.
bool have_program(const std::string& name);
/// A port of loopback that nobody had a moment ago, and that the system gives to nobody who does
/// not ask for it.
int free_port();

}  // namespace tutti::test
