#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace tutti::core {

/// The machines, models, layer times, kinds of network links and algorithms that scenarios name:
/// files that come with Tutti in a folder, or in the user's own; or texts that were sent along with
/// a scenario to where there are no files.
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
    std::string name;  ///< as the scenario writes it
    std::string path;  ///< where it was found, which is what errors call it
    std::string text;
  };

  /// `folder` holds machines/, models/, layer_times/, links/ and algorithms/.
  explicit Library(std::string folder) : folder_(std::move(folder)) {}
  /// Has these texts and nothing else, and reads no file.
  explicit Library(std::vector<File> sent) : sent_(std::move(sent)) {}

  /// The file that `name` means in a text at `from`: a path (it has a '/' or an ending), relative
  /// to the folder of `from`; else the shipped file of that name, except of clusters, of which none
  /// are shipped. Nothing if there is none.
  [[nodiscard]] std::optional<std::string> find(Kind kind, const std::string& name,
                                                const std::string& from) const;
  /// The same, with its text. ERRORS: it is there and cannot be read.
  [[nodiscard]] Expected<std::optional<File>> read(Kind kind, const std::string& name,
                                                   const std::string& from) const;
  /// The names of the shipped ones, sorted.
  [[nodiscard]] std::vector<std::string> names(Kind kind) const;
  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
  std::optional<std::vector<File>> sent_;
};

}  // namespace tutti::core
