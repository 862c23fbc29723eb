#pragma once

#include <string>
#include <vector>

namespace tutti::gui {

/// A scenario that ships with Tutti as an example.
struct Example {
  std::string path;
  int number = 0;  ///< the number at the start of the file's name
  /// The name of the example. If the file has none, the file's name without its number: "resnet50
  /// ring".
  std::string title;
  std::string about;  ///< the comment at the beginning of the file
};

/// Returns the numbered scenarios of a folder, in order. Files that cannot be read are omitted.
std::vector<Example> examples_in(const std::string& folder);

/// Returns true if the path leads to one of the numbered scenarios of the folder. The window never
/// overwrites such a file. It saves a changed example elsewhere.
bool is_example(const std::string& path, const std::string& folder);

/// Returns the comment at the beginning of a scenario's text as one line.
std::string opening_remark(const std::string& text);

}  // namespace tutti::gui
