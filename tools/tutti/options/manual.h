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
  std::vector<std::string> command;  ///< such as import, nccl-topology; empty: the program
  std::string folder;                ///< folder to write all pages to; empty: print a page
};

/// `tutti manual`: prints the page of a command, or writes all pages into a folder. Returns the
/// exit status.
int manual(const ManualOptions& options, const CLI::App& app);

/// Returns the manual page (roff, section 1) of a command, or of the program: synopsis, options,
/// examples, and the pages beside it.
std::string manual_page(const CLI::App& command);

/// Returns the name of a command's page: "tutti-import-nccl-topology".
std::string manual_name(const CLI::App& command);

}  // namespace tutti::tools
