#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/tutti/command.h"

namespace CLI {
class App;
}

namespace tutti::tools {

/// The commands of `tutti` with their options. The program parses its arguments with it; the Python
/// module calls the same commands in its own process (tools/tutti/io/capture.h).
class CommandLine {
 public:
  CommandLine();
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// Parses the words after the program's name; called once. Returns the exit status if nothing is
  /// left to run: for help, the version, and mistakes, which are reported.
  std::optional<int> parse(const std::vector<std::string>& words);
  /// True if the command starts or is a process of a real run, or replaces this process. REQUIRES:
  /// parse() returned nullopt.
  [[nodiscard]] bool leaves_this_process() const;
  /// Runs the command and returns its exit status. REQUIRES: parse() returned nullopt.
  int run(const Environment& environment) const;

  /// Returns completions of the last of `words`, in the form that the shells' scripts read
  /// (tools/tutti/options/complete.h). For use in place of parse().
  [[nodiscard]] std::string completions(const std::vector<std::string>& words,
                                        const core::Library& library) const;

  /// The tree of commands and options.
  [[nodiscard]] const CLI::App& app() const { return *app_; }

 private:
  struct Commands;
  std::unique_ptr<CLI::App> app_;
  std::unique_ptr<Commands> commands_;
};

}  // namespace tutti::tools
