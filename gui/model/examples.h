#pragma once

#include <string>
#include <vector>

namespace tutti::gui {

/// A scenario that comes with Tutti, to start from.
struct Example {
  std::string path;
  int number = 0;     ///< that its file's name begins with
  std::string title;  ///< its name, else what its file's name says: "resnet50 ring"
  std::string about;  ///< the remark at its beginning
};

/// The numbered scenarios of a folder, in their order. A file that cannot be read is left out.
std::vector<Example> examples_in(const std::string& folder);

/// True if the path leads to a file that is one of the numbered scenarios of the folder. They stay as they are: who changes one saves it
/// elsewhere.
bool is_example(const std::string& path, const std::string& folder);

/// The remark at the beginning of a text, its lines joined.
std::string opening_remark(const std::string& text);

}  // namespace tutti::gui
