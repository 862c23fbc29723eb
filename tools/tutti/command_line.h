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

/// The commands of `tutti` with their options. The program uses this class to parse its arguments.
/// The Python module uses this class to call the same commands in its own process
/// (tools/tutti/io/capture.h).
class CommandLine {
 public:
  CommandLine();
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// Parses the arguments after the program's name. To be called once. If there is no command to
  /// run (after --help, --version or invalid arguments, which this function reports), returns the
  /// exit status.
  std::optional<int> parse(const std::vector<std::string>& words);
  /// Returns true if the command starts processes of a real run, is such a process, or replaces
  /// this process. REQUIRES: parse() returned nullopt.
  [[nodiscard]] bool leaves_this_process() const;
  /// Runs the command and returns its exit status. REQUIRES: parse() returned nullopt.
  int run(const Environment& environment) const;

  /// Returns completions of the last of `words`, in the format of the shells' completion scripts
  /// (tools/tutti/options/complete.h). Called instead of parse().
  [[nodiscard]] std::string completions(const std::vector<std::string>& words,
                                        const core::Library& library) const;

  /// Returns the tree of all commands and options.
  [[nodiscard]] const CLI::App& app() const { return *app_; }

 private:
  struct Commands;
  std::unique_ptr<CLI::App> app_;
  std::unique_ptr<Commands> commands_;
};

}  // namespace tutti::tools
