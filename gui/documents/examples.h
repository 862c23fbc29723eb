#pragma once

#include <string>
#include <vector>

namespace tutti::gui {

/// A scenario that ships with Tutti as an example.
struct Example {
  std::string path;
  int number = 0;  ///< number at the start of the file's name
  /// Name of the example, or else the file's name without number: "resnet50 ring".
  std::string title;
  std::string about;  ///< comment at the file's beginning
};

/// Returns the numbered scenarios of a folder, in order. Files that cannot be read are left out.
std::vector<Example> examples_in(const std::string& folder);

/// Returns true if the path leads to one of the numbered scenarios of the folder. These are never
/// overwritten: changed examples are saved elsewhere.
bool is_example(const std::string& path, const std::string& folder);

/// Returns the comment at the beginning of a text, its lines joined.
std::string opening_remark(const std::string& text);

}  // namespace tutti::gui
