#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace tutti::tools {

/// A temporary folder that is removed with this object.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code none;
    // mkdtemp() replaces the six X, which must be the last characters, by a unique suffix.
    std::string name = (std::filesystem::temp_directory_path(none) / "tutti-XXXXXX").string();
    if (::mkdtemp(name.data())) path_ = name;
  }
  ~ScratchFolder() {
    std::error_code none;
    if (!path_.empty()) std::filesystem::remove_all(path_, none);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  /// Returns the path of the folder; empty if the folder could not be created.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace tutti::tools
