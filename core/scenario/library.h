#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tutti::core {

/// The machines, models and layer times that come with Tutti: files in a folder.
class Library {
 public:
  enum class Kind { kMachine, kModel, kLayerTimes };

  /// `folder` holds machines/, models/ and layer_times/.
  explicit Library(std::string folder) : folder_(std::move(folder)) {}

  /// The file that `name` means in a text at `from`: a path (it has a '/' or an ending), relative to the folder of
  /// `from`; else the shipped file of that name. Nothing if there is none.
  [[nodiscard]] std::optional<std::string> find(Kind kind, const std::string& name, const std::string& from) const;
  /// The names of the shipped ones, sorted.
  [[nodiscard]] std::vector<std::string> names(Kind kind) const;
  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

}  // namespace tutti::core
