#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tutti::tools {

struct CompletionOptions {
  std::string shell;
};

struct ManualOptions {
  /// The words of the command's name, such as "import" and "nccl-topology"; empty: the program
  /// itself.
  std::vector<std::string> command;
  std::string folder;  ///< the folder to write all pages to; empty: print one page
};

/// `tutti manual`: prints the manual page of a command, or writes all pages to a folder. Returns
/// the exit status.
int manual(const ManualOptions& options, const CLI::App& app);

/// Returns the manual page (roff, section 1) of a command or of the program, with synopsis,
/// options, examples, and related pages.
std::string manual_page(const CLI::App& command);

/// Returns the name of a command's page, such as "tutti-import-nccl-topology".
std::string manual_name(const CLI::App& command);

}  // namespace tutti::tools
