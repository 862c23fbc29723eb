#pragma once

#include <string>
#include <vector>

#include "core/scenario/library.h"

namespace CLI {
class App;
}

namespace tutti::tools {

/// Completions of a word of a command line.
struct Completions {
  struct Candidate {
    std::string word;
    std::string help;  ///< help text of one line
  };
  std::vector<Candidate> candidates;
  /// Files are offered as well: those with one of these endings, or all if it is empty.
  bool files = false;
  bool folders = false;  ///< true: offer folders only
  std::vector<std::string> endings;
};

/// Completes the last of `words`, the words after the program's name up to the cursor.
Completions complete(const CLI::App& app, const std::vector<std::string>& words,
                     const core::Library& library);

/// Returns completions as the scripts of completion_script() read them: a line "files ENDING…",
/// "folders" or "words", then a line for each candidate, with a tab before its help.
std::string to_text(const Completions& completions);

/// Returns the script that adds the program's completion to a shell: "bash", "zsh" or "fish".
/// REQUIRES: the name of one of them.
std::string completion_script(const std::string& shell);

}  // namespace tutti::tools
