#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace tutti::core {

/// The machines, models, layer times, kinds of network links and algorithms that scenarios name:
/// files that Tutti ships in a folder, or the user's own; or texts that were sent with a scenario
/// to a process without these files.
class Library {
 public:
  enum class Kind {
    kMachine = 0,
    kModel = 1,
    kLayerTimes = 2,
    kCluster = 3,
    kLink = 4,
    kAlgorithm = 5
  };

  /// A file that a scenario names.
  struct File {
    Kind kind = Kind::kMachine;
    std::string name;  ///< the name in the scenario
    std::string path;  ///< where it was found; errors name this path
    std::string text;
  };

  /// `folder` holds machines/, models/, layer_times/, links/ and algorithms/.
  explicit Library(std::string folder) : folder_(std::move(folder)) {}
  /// Creates a library that has only these texts, and reads no file.
  explicit Library(std::vector<File> sent) : sent_(std::move(sent)) {}

  /// Returns the file for `name` in a text at `from`: for a path (it has a '/' or an extension)
  /// relative to the folder of `from`; otherwise the shipped file of that name (none for clusters).
  /// Returns nullopt if there is none.
  [[nodiscard]] std::optional<std::string> find(Kind kind, const std::string& name,
                                                const std::string& from) const;
  /// Returns the file with its text. ERRORS: it exists but cannot be read.
  [[nodiscard]] Expected<std::optional<File>> read(Kind kind, const std::string& name,
                                                   const std::string& from) const;
  /// Returns the names of the shipped files, sorted.
  [[nodiscard]] std::vector<std::string> names(Kind kind) const;
  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
  std::optional<std::vector<File>> sent_;
};

}  // namespace tutti::core
