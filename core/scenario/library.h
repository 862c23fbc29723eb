#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace tutti::core {

/// A collection of the machines, models, layer times, link types and algorithms that scenarios
/// name. A library consists of the files in Tutti's folder and of the user's own files. A process
/// without access to these files has a library of the texts that were sent with the scenario.
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
    std::string name;  ///< name in the scenario
    std::string path;  ///< path of the file, for errors
    std::string text;
  };

  /// `folder` has the folders machines/, models/, layer_times/, links/ and algorithms/.
  explicit Library(std::string folder) : folder_(std::move(folder)) {}
  /// Creates a library whose machines, models and other named files are the texts `sent`. `folder`
  /// has the parameters of NCCL's times; empty: NCCL's times are not predicted.
  explicit Library(std::vector<File> sent, std::string folder = {})
      : folder_(std::move(folder)), sent_(std::move(sent)) {}

  /// Returns the path of the file to which the text `name` in the file `from` refers; nullopt if
  /// there is no such file. A name with a '/' or an extension is a path, relative to the folder of
  /// `from`. Any other name is the name of a file in Tutti's folder (except for clusters).
  [[nodiscard]] std::optional<std::string> find(Kind kind, const std::string& name,
                                                const std::string& from) const;
  /// Returns a file and its text; nullopt if there is no such file.
  /// ERRORS: the file exists but cannot be read.
  [[nodiscard]] Expected<std::optional<File>> read(Kind kind, const std::string& name,
                                                   const std::string& from) const;
  /// Returns the names of the files of this kind in Tutti's folder, in sorted order.
  [[nodiscard]] std::vector<std::string> names(Kind kind) const;
  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
  std::optional<std::vector<File>> sent_;
};

}  // namespace tutti::core
