#pragma once

#include <string>
#include <vector>

namespace tutti::gui {

/// A scenario that ships with Tutti as an example.
struct Example {
  std::string path;
  int number = 0;  ///< the number at the start of the file's name
  /// The title in the folder's examples.csv, or else the name in the scenario, or else the file's
  /// name without its number, such as "resnet50 ring".
  std::string title;
  std::string question;  ///< the question that the example answers; empty if examples.csv has none
  std::string about;     ///< the comment at the beginning of the file
};

/// Returns the numbered scenarios of a folder, in the order of their numbers. Files that cannot be
/// read are skipped. The folder's file examples.csv (number,question,title) has titles, and the
/// questions by which the window groups examples.
std::vector<Example> examples_in(const std::string& folder);

/// Returns true if the path refers to one of the numbered scenarios of the folder. The window never
/// overwrites an example. If the user changes an example, the window saves the changed scenario to
/// another file.
bool is_example(const std::string& path, const std::string& folder);

/// Returns the comment at the beginning of a scenario's text as one line.
std::string leading_comment(const std::string& text);

}  // namespace tutti::gui
