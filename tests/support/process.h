#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "tests/support/program.h"

namespace tutti::test {

/// A program that runs concurrently with the test. The destructor ends the program if it is still
/// running.
class Process {
 public:
  struct Options {
    /// Variables in addition to the caller's, without those of launchers.
    std::map<std::string, std::string> environment{};
    std::string folder{};  ///< the working folder; empty: the caller's
    int memory_mb = 0;     ///< memory limit; 0: none
  };

  /// Starts the tutti command with these arguments. Throws if the program cannot be started.
  explicit Process(const std::vector<std::string>& arguments) : Process(arguments, Options{}) {}
  Process(const std::vector<std::string>& arguments, const Options& options);
  /// Starts any program. `words[0]` is searched in PATH.
  static Process of(std::vector<std::string> words, const Options& options);
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  ~Process();

  [[nodiscard]] pid_t id() const { return id_; }
  void signal(int number) const;
  /// Waits until the program handles this signal itself, or has ended. Returns false if the program
  /// ends without handling the signal.
  [[nodiscard]] bool handles(int number) const;
  /// Waits until the program's standard error contains the text, or the program has ended. Returns
  /// false if the text never occurs.
  bool says(const std::string& text);
  [[nodiscard]] std::string err() const;
  /// Returns the text that the program has written to standard output so far.
  [[nodiscard]] std::string out() const;
  /// Waits until the program has ended.
  Outcome wait();

 private:
  Process() = default;
  void start(std::vector<std::string> words, const Options& options);
  [[nodiscard]] bool running() const;

  TemporaryFolder talk_;
  pid_t id_ = -1;
};

/// Returns the path of the tutti command.
std::string tutti_program();
/// Returns true if the program is in PATH.
bool have_program(const std::string& name);
/// Returns a port of loopback that is free at the time of the call. The port is outside the range
/// of ports that the system assigns automatically.
int free_port();

}  // namespace tutti::test
