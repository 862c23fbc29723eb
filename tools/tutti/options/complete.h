#pragma once

#include <string>
#include <vector>

#include "core/scenario/library.h"

namespace CLI {
class App;
}

namespace tutti::tools {

/// The possible completions of one word of a command line.
struct Completions {
  struct Candidate {
    std::string word;
    std::string help;  ///< a help text of one line
  };
  std::vector<Candidate> candidates;
  /// True: also offer files with one of `endings`, or all files if `endings` is empty.
  bool files = false;
  bool folders = false;  ///< true: offer folders only
  std::vector<std::string> endings;
  /// The number of characters (not bytes) of the word that precede the name of the file or folder,
  /// such as 6 in "--log=a.txt".
  std::size_t before_file = 0;
};

/// Completes the last of `words`. `words`: the words after the program's name, up to the cursor.
Completions complete(const CLI::App& app, const std::vector<std::string>& words,
                     const core::Library& library);

/// Returns the completions in the format that the shell scripts of completion_script() read. The
/// first line is "files N ENDING…", "folders N" or "words", where N is `before_file`. One line for
/// each candidate follows, with its help text after a tab.
std::string to_text(const Completions& completions);

/// Returns the script that adds the program's completion to a shell. REQUIRES: `shell` is "bash",
/// "zsh" or "fish".
std::string completion_script(const std::string& shell);

}  // namespace tutti::tools
