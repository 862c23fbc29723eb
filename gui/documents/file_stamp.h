#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace tutti::gui {

/// The size of a file and the time of its last change. Comparing stamps detects a change of the
/// file without reading it.
struct FileStamp {
  std::filesystem::file_time_type written;
  std::uintmax_t size = 0;
  bool operator==(const FileStamp&) const = default;

  /// Returns the stamp of a file; nullopt if there is no such file.
  static std::optional<FileStamp> of(const std::string& path) {
    std::error_code missing, unknown;
    const FileStamp stamp{std::filesystem::last_write_time(path, missing),
                          std::filesystem::file_size(path, unknown)};
    return missing || unknown ? std::nullopt : std::optional(stamp);
  }
};

}  // namespace tutti::gui
